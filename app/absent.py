"""Settings that are accepted already, though what they are for is not in this version."""

from norma.app.settings import FetchSettings, SearchSettings, Settings


def absent_features(settings: Settings) -> tuple[str, ...]:
    """A line for each part of the settings that was set and has no effect yet."""
    parts = (
        ("fetch", settings.fetch != FetchSettings(), "WebFetch"),
        ("search", settings.search != SearchSettings(), "WebSearch"),
    )
    return tuple(
        f"the settings under {name} have no effect: this version has no {what} yet"
        for name, is_set, what in parts
        if is_set
    )
