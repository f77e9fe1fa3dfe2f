"""
What the exceptions of aiohttp mean, in our words and with nothing of the request in them.

Imported with `transport`, when the first request goes out.
"""

import socket

import aiohttp

from norma.adapters.http.call import CallFailed, refused_words
from norma.adapters.http.guard import AddressRefused
from norma.domain.model.failures import Failure


def safe_cause(error: Exception) -> BaseException | None:
    """What may be kept of *error*: its repr can hold the request's headers, or a proxy with its password."""
    if isinstance(error, aiohttp.ClientResponseError):
        return None
    return error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error


def failed_sending(error: Exception, host: str) -> CallFailed:
    """What an exception means that came before the headers did."""
    match error:
        case aiohttp.ClientConnectorError(os_error=AddressRefused() as refused):
            failure = Failure("refused", refused_words(str(refused)), "policy")
            return CallFailed(failure, may_retry=False)
        case aiohttp.ConnectionTimeoutError():
            why = f"no connection to {host} within the time for connecting (network.connect_timeout_s)"
            return _network(why, sent=False)
        case aiohttp.SocketTimeoutError() | TimeoutError():
            return _silent(host)
        case aiohttp.ClientConnectorCertificateError():
            why = f"the certificate of {host} is not trusted: {error.certificate_error}"
            return _network(f"{why} (network.ca_file names further authorities)", may_retry=False, sent=False)
        case aiohttp.ClientHttpProxyError():
            message = f"the proxy refused a connection to {host} with status {error.status}"
            failure = Failure("proxy", message, "transport", status=error.status)
            return CallFailed(failure, may_retry=error.status != 407)
        case aiohttp.ClientProxyConnectionError():
            message = f"no connection to the proxy for {host}: {_words(error.os_error)}"
            return CallFailed(
                Failure("proxy", message, "transport"), may_retry=not _unknown_name(error.os_error)
            )
        case aiohttp.ClientConnectorDNSError():
            why = f"the host of {host} was not found: {_words(error.os_error)}"
            return _network(why, may_retry=not _unknown_name(error.os_error), sent=False)
        case aiohttp.ServerDisconnectedError():
            return _network(f"{host} closed the connection without an answer")
        case aiohttp.ClientConnectorError():
            return _network(f"no connection to {host}: {_words(error.os_error)}", sent=False)
        case aiohttp.InvalidURL():
            return CallFailed(
                Failure("usage", f"the URL of {host or 'the request'} is not valid"), may_retry=False
            )
        case aiohttp.ClientResponseError():
            why = f"{host} did not answer in HTTP: {error.message}"
            return CallFailed(Failure("protocol", why, "transport"), may_retry=False)
        case ValueError():  # of a header, or of an address that is none
            return CallFailed(
                Failure("usage", f"the request to {host} is not valid: {error}"), may_retry=False
            )
        case aiohttp.ClientConnectionError() | OSError():
            return _network(f"the connection to {host} failed: {_words(error)}")
        case _:
            why = f"the request to {host} could not be sent: {type(error).__name__}: {error}"
            return CallFailed(Failure("internal", why), may_retry=False)


def failed_reading(error: Exception, host: str) -> CallFailed:
    """What an exception means that came while the body was read."""
    if isinstance(error, aiohttp.SocketTimeoutError | TimeoutError):
        return _silent(host)
    why = str(error) or type(error).__name__
    failure = Failure("stream_dropped", f"the answer of {host} broke off before its end: {why}", "transport")
    return CallFailed(failure, may_retry=True)


def _network(message: str, *, may_retry: bool = True, sent: bool = True) -> CallFailed:
    return CallFailed(Failure("network", message, "transport"), may_retry=may_retry, sent=sent)


def _silent(host: str) -> CallFailed:
    message = f"{host} sent nothing for as long as network.idle_timeout_s allows"
    return CallFailed(Failure("timeout", message, "transport"), may_retry=False)


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _unknown_name(error: BaseException) -> bool:
    """Whether a name does not exist, as against a name server that could not be asked just now."""
    cause = getattr(error, "os_error", error)
    return isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN
