"""
The nouns: frozen values, importing nothing of ours from outside this folder.

`to_json` and `from_json` turn any of them into plain JSON and back.
"""

from norma.domain.model import events as _events  # registers every tag
from norma.domain.model.codec import MalformedJson, from_json, to_json

__all__ = ["MalformedJson", "from_json", "to_json"]

_ = _events
