"""The page on profiles says what the profiles say."""

from tools.profiles_page import PAGE, page


def test_the_page_on_profiles_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), "python tools/profiles_page.py --write mends it"
