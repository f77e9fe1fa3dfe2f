"""
Matches lines in time linear in their length, whatever the pattern.

`re` tries one way through a pattern after another, which for some patterns are more than there are
seconds. Here all ways are followed at once (Thompson), as a set of places in the pattern; the step from
one set to the next by a character is worked out once and remembered (a lazy DFA). It says only whether
a line has a match, and is an order slower than `re` where that does well.
"""

import re
from typing import NamedTuple

from norma.adapters.grep.expression import Alternatives, Anchor, Concat, Node, Repeat
from norma.adapters.grep.spelling import for_python

REMEMBERED = 4000
"""Sets of places that are kept; beyond that they are forgotten and worked out anew."""
END = ""
"""Stands for the character after the last one."""


class Step(NamedTuple):
    """
    A place in the pattern: consume a character that fits *accepts*, or pass an anchor, and go on at
    *then*.
    """

    accepts: re.Pattern[str] | None
    anchor: str
    then: tuple[int, ...]


class State(dict[str, "State"]):
    """
    A set of places, after a word character or not, at the start of the line or not; maps a
    character to the next.
    """

    def __init__(self, lines: "LinearLines", places: frozenset[int], before: str) -> None:
        super().__init__()
        self.lines = lines
        self.places = places
        self.before = before

    def __missing__(self, char: str) -> "State":
        following = self[char] = self.lines.step(self, char)
        return following


class LinearLines:
    """The pattern *node*, ready for lines without their line feed."""

    def __init__(self, node: Node) -> None:
        self.program: list[Step] = [Step(None, "match", ())]
        self.start = self.compiled(node, (0,))
        self.states: dict[tuple[frozenset[int], str], State] = {}
        self.matched = State(self, frozenset(), "matched")
        self.word = re.compile(r"\w")

    def has_match(self, line: str) -> bool:
        """Whether *line* has a match."""
        state = self.state(frozenset(), END)
        matched = self.matched
        for char in line:
            state = state[char]
            if state is matched:
                return True
        return state[END] is matched

    def compiled(self, node: Node, then: tuple[int, ...]) -> tuple[int, ...]:
        """The places where *node* begins when it goes on at *then*."""
        if isinstance(node, Concat):
            for item in reversed(node.items):
                then = self.compiled(item, then)
            return then
        if isinstance(node, Alternatives):
            return tuple(place for item in node.items for place in self.compiled(item, then))
        if isinstance(node, Repeat):
            return self.repeated(node, then)
        if isinstance(node, Anchor):
            return self.edge(node.kind, then)
        return self.add(Step(re.compile(for_python(node, multiline=False, wide=True)), "", then))

    def edge(self, kind: str, then: tuple[int, ...]) -> tuple[int, ...]:
        if kind != "$":
            return self.add(Step(None, kind, then))
        # A line ends before its LF, and before the CR in front of it.
        at_end = self.add(Step(None, "$", then))
        return at_end + self.add(Step(re.compile("\r"), "", at_end))

    def repeated(self, node: Repeat, then: tuple[int, ...]) -> tuple[int, ...]:
        if node.high is None:
            loop = self.add(Step(None, "", ()))
            inner = self.compiled(node.item, loop)
            self.program[loop[0]] = Step(None, "", inner + then)
            then = loop
        else:
            for _ in range(node.high - node.low):
                then = (*self.compiled(node.item, then), *then)
        for _ in range(node.low):
            then = self.compiled(node.item, then)
        return then

    def add(self, step: Step) -> tuple[int, ...]:
        self.program.append(step)
        return (len(self.program) - 1,)

    def state(self, places: frozenset[int], before: str) -> State:
        key = (places, before)
        found = self.states.get(key)
        if found is None:
            if len(self.states) >= REMEMBERED:
                self.forget()
            found = self.states[key] = State(self, places, before)
        return found

    def forget(self) -> None:
        for state in self.states.values():
            state.clear()
        self.states.clear()

    def step(self, state: State, char: str) -> State:
        """Where *char* leads from *state*; a new match may begin before every character."""
        here, done = self.reached(state, char)
        if done:
            return self.matched
        following: set[int] = set()
        if char != END:
            for place in here:
                step = self.program[place]
                if step.accepts is not None and step.accepts.fullmatch(char):
                    following.update(step.then)
        return self.state(frozenset(following), self.kind(char))

    def kind(self, char: str) -> str:
        """What matters of *char* to an anchor beside it."""
        if char == END:
            return END
        if "\udc80" <= char <= "\udcff":
            return "not UTF-8"
        return "word" if self.word.match(char) else "other"

    def reached(self, state: State, char: str) -> tuple[set[int], bool]:
        """
        The places that *state* and a new start lead to without a character, before *char*; whether
        one is the end.
        """
        before, after = state.before, self.kind(char)
        at_edge = (before == "word") is not (after == "word")
        holds = {
            "": True,
            "^": before == END,
            "$": char == END,
            "b": at_edge,
            "B": not at_edge and "not UTF-8" not in (before, after),
        }
        todo = [*state.places, *self.start]
        seen: set[int] = set()
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            if place == 0:
                return seen, True
            step = self.program[place]
            if step.accepts is None and holds[step.anchor]:
                todo += step.then
        return seen, False
