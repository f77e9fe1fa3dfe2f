"""What is told of errors (M3, N5)."""

from norma.adapters.wires.errors import MOST_SHOWN, excerpt, http_failure, without_secrets
from norma.domain.model.failures import Failure, ProviderWords
from norma.domain.model.secrets import Secret


def test_M3_a_long_body_is_shown_by_its_beginning() -> None:
    shown = excerpt(b"<html>\n  " + b"x" * 10_000)
    assert shown.startswith("<html> xxx")
    assert len(shown) == MOST_SHOWN + 1


def test_M3_a_body_of_words_alone_is_told_whole() -> None:
    failure = http_failure("h", 500, b"upstream\n  is down", {})
    assert failure.message == "h answered with status 500: upstream is down"


def test_N5_a_secret_is_taken_out_of_every_field() -> None:
    words = ProviderWords("t k3y", "k3y", "m k3y", "r-k3y")
    cleaned = without_secrets(Failure("server", "bad k3y", "http", 500, words, 2.0), (Secret("k3y"),))
    assert "k3y" not in repr(cleaned)
    assert cleaned == Failure(
        "server", "bad ***", "http", 500, ProviderWords("t ***", "***", "m ***", "r-***"), 2.0
    )


def test_N5_an_empty_secret_changes_nothing() -> None:
    failure = Failure("server", "words")
    assert without_secrets(failure, (Secret(""), Secret(" "))) == failure
