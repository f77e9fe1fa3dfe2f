"""The permission policy that settings ask for."""

from norma.app.settings import Settings
from norma.domain.policy.policy import CurrentPolicy, Policy, ScopeRules


def current_policy(settings: Settings) -> CurrentPolicy:
    """The policy of all scopes and of the mode; the rules were checked when settings were filled."""
    scopes = [ScopeRules(one.scope, one.allow, one.ask, one.deny) for one in settings.scopes]
    return CurrentPolicy(Policy.of(settings.permissions.mode, scopes))
