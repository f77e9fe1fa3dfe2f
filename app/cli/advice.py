"""What to try when a model could not be asked, by what was wrong."""

from collections.abc import Mapping

from attrs import evolve

from norma.domain.model.failures import Failure, FailureKind

_ADVICE: Mapping[FailureKind, str] = {
    "authentication": "check the key: --api-key-env, or models.<name>.api_key_env",
    "permission": "the key may not use this model, or the account has no credit",
    "not_found": "check the base URL, the wire and the provider's id of the model",
    "rate_limited": "wait a little, or ask the provider for a higher limit",
    "overloaded": "try again later, or another model",
    "server": "try again later; the fault is the provider's",
    "invalid_request": "norma reply --print-request shows what is sent; the profile may be another",
    "context_overflow": "send less, or use a model with a larger context",
    "network": "check the address, and network.proxy and network.ca_file, which say how it is reached",
    "proxy": "check network.proxy or HTTP_PROXY and HTTPS_PROXY, and the user and password in it",
    "timeout": "check the address; a slow model needs a larger network.idle_timeout_s",
    "protocol": "check that the base URL leads to an API, and to one of this wire",
    "stream_dropped": "try again; the connection broke in the middle",
}


def advised(failure: Failure) -> Failure:
    """*failure* in one line that ends with what to try."""
    message = " ".join(failure.message.split())
    advice = _ADVICE.get(failure.kind)
    return evolve(failure, message=f"{message}; {advice}" if advice else message)
