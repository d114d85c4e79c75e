"""Sends requests, and retries what may succeed on another attempt."""

from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, List, Mapping, Union

import anyio
import httpx

from ._decisions import Call, Decisions, data_of_event, error_of, query_of


class AsyncTransport:
    def __init__(
        self,
        credential: str,
        base_url: str,
        attempts: int,
        http: httpx.AsyncClient,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self.decisions = Decisions(credential, base_url, attempts)
        self.http = http
        self.sleep = sleep

    async def send(self, call: Call) -> httpx.Response:
        attempt = 0
        while True:
            attempt += 1
            outcome: Union[httpx.Response, httpx.TransportError]
            try:
                outcome = await self.http.request(**self.decisions.arguments_of(call))
            except httpx.TransportError as error:
                outcome = error
            pause = self.decisions.pause_before_retry(outcome, attempt)
            if pause is None:
                assert isinstance(outcome, httpx.Response)
                return outcome
            await self.sleep(pause)

    async def json(self, call: Call) -> Any:
        return (await self.send(call)).json()

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[httpx.Response]:
        """One attempt. The response is read by the caller, without a limit between two events."""
        async with self.http.stream(**self.decisions.arguments_of(call)) as response:
            if not response.is_success:
                await response.aread()
                raise error_of(response)
            yield response

    async def events(self, call: Call) -> AsyncIterator[str]:
        """The data of each server-sent event."""
        async with self.stream(call) as response:
            lines: List[str] = []
            async for line in response.aiter_lines():
                if line:
                    lines.append(line)
                    continue
                data = data_of_event(lines)
                lines = []
                if data:
                    yield data

    async def pages(self, path: str, query: Mapping[str, Any]) -> AsyncIterator[Dict[str, Any]]:
        cursor = None
        while True:
            page = await self.json(Call("GET", path + query_of({**query, "starting_after": cursor})))
            for item in page["data"]:
                yield item
            if not page["has_more"] or not page["data"]:
                return
            cursor = page["data"][-1]["id"]
