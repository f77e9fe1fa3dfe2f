"""How often a server that dies is started again, and how soon. Pure."""

from attrs import define, field

from norma.domain.model.values import frozen


@frozen
class RestartPolicy:
    """
    At most *restarts* within *window_s*; 0 switches restarts off.

    The first is made at once, each further one after a wait that doubles from *first_wait_s* up to
    *most_wait_s*.
    """

    restarts: int = 3
    window_s: float = 300.0
    first_wait_s: float = 0.5
    most_wait_s: float = 8.0


@define
class RestartBudget:
    """The restarts that one server has had."""

    policy: RestartPolicy
    _taken: list[float] = field(factory=list, init=False)

    def take(self, now: float) -> float | None:
        """Use one restart: the seconds to wait before it, None if there is none left."""
        self._taken = [moment for moment in self._taken if now - moment < self.policy.window_s]
        used = len(self._taken)
        if used >= self.policy.restarts:
            return None
        self._taken.append(now)
        if not used:
            return 0.0
        return min(self.policy.first_wait_s * 2.0 ** min(used - 1, 30), self.policy.most_wait_s)
