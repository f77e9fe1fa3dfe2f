"""The schema port: whether a tool call's arguments fit the tool's JSON schema."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

SchemaCheck: TypeAlias = Callable[[Mapping[str, Any]], str | None]
"""
None if the arguments fit; else what is wrong, where, and what would be right, in words for a model.

Unknown properties are accepted unless the schema forbids them. The arguments are not changed.
"""


class SchemaCompiler(Protocol):
    """Makes checks of schemas (JSON schema, draft 2020-12 unless `$schema` says otherwise)."""

    @abstractmethod
    def compile(self, schema: Mapping[str, Any]) -> SchemaCheck:
        """
        A check for *schema*.

        Remote references are never fetched.

        Raises:
            ValueError: it is no usable schema; the message says why.
        """
