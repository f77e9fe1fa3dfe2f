"""Base URLs and endpoints (contract M6). Pure."""

from urllib.parse import urlsplit, urlunsplit


def endpoint(base_url: str, suffix: str, *, version: str = "") -> str:
    """
    The URL of an endpoint below *base_url*.

    The suffix is appended exactly once, in front of a query, escapes kept. A base that already ends in it
    is not doubled; nor is one that ends in *version*, the suffix's own first part (`/v1`).

    Raises ValueError for what is no http or https URL, or holds credentials.
    """
    parts = urlsplit(base_url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"base_url {base_url!r} is no http or https URL; right would be https://host/path")
    if "@" in parts.netloc:
        raise ValueError("base_url holds credentials; give the key by api_key_env instead")
    path = parts.path.rstrip("/")
    if not path.endswith(suffix):
        if version and path.endswith(version):
            path = path.removesuffix(version)
        path += suffix
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))
