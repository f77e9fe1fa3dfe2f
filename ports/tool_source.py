"""
The tool-source port: tools that come and go while an engine lives.

Above: the engine, which looks at each model call. Below: servers that announce their tools.
"""

from abc import abstractmethod
from typing import Protocol

from norma.ports.tool import Tool


class ToolSource(Protocol):
    """Tools that may change from one model call to the next."""

    @abstractmethod
    def tools(self) -> tuple[Tool, ...]:
        """
        The tools there are now, with distinct names; the same tuple object while nothing has changed.

        Answered at once. A tool that has gone may still be called; its run then says that it has.
        """
