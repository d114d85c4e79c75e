"""What the generated client of the management API stands on."""

from typing import Any, AsyncIterator, Mapping, Optional, Type
from urllib.parse import quote

import httpx
from typing_extensions import Self

from ._async_transport import AsyncTransport
from ._decisions import DEFAULT_ATTEMPTS, DEFAULT_TIMEOUT_SECONDS, Call, query_of
from ._model import ModelT
from ._unset import UNSET


def _call_of(
    method: str,
    path: str,
    query: Optional[Mapping[str, Any]],
    body: Optional[Mapping[str, Any]],
    idempotency_key: Optional[str],
) -> Call:
    headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
    given = {name: value for name, value in (body or {}).items() if value is not UNSET}
    return Call(method, path + query_of(query or {}), headers, {} if body is None else {"json": given})


def _path(template: str, **values: str) -> str:
    return template.format(**{name: quote(value, safe="") for name, value in values.items()})


class AsyncManagementBase:
    """Use as an asynchronous context manager, or call `aclose`."""

    def __init__(
        self,
        token: str,
        base_url: str,
        *,
        attempts: int = DEFAULT_ATTEMPTS,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        http = http_client or httpx.AsyncClient(timeout=DEFAULT_TIMEOUT_SECONDS)
        self._transport = AsyncTransport(token, base_url, attempts, http)

    _path = staticmethod(_path)

    async def _send(
        self,
        model: Type[ModelT],
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        idempotency_key: Optional[str] = None,
    ) -> ModelT:
        return model(await self._transport.json(_call_of(method, path, query, body, idempotency_key)))

    async def _send_nothing(self, method: str, path: str) -> None:
        await self._transport.send(Call(method, path))

    async def _pages(self, model: Type[ModelT], path: str, *, query: Mapping[str, Any]) -> AsyncIterator[ModelT]:
        async for item in self._transport.pages(path, query):
            yield model(item)

    async def aclose(self) -> None:
        await self._transport.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
