"""What can the client do? What it said of itself, in the way of each era of the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_ERA = "io.modelcontextprotocol/protocolVersion"
_INFO = "io.modelcontextprotocol/clientInfo"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_NAME = 200


@dataclass(frozen=True, slots=True)
class Client:
    """Of a handshake, or of one request that carries it all."""

    name: str = ""
    asks: bool = False  # its user can be asked with a form
    modern: bool = False  # nothing can be asked in between: a question is an answer, and the call comes again

    @classmethod
    def greeting(cls, params: Any) -> Client:
        """Of `initialize`."""
        given = params if isinstance(params, Mapping) else {}
        return cls(_name(given.get("clientInfo")), _asks(given.get("capabilities")))

    def calling(self, params: Mapping[str, Any]) -> Client:
        """Of a request: what it says of its client, else what the handshake said."""
        meta = params.get("_meta")
        if not isinstance(meta, Mapping) or _ERA not in meta:
            return self
        return Client(_name(meta.get(_INFO)), _asks(meta.get(_CAPABILITIES)), True)


def carried(params: Mapping[str, Any]) -> dict[str, Any]:
    """What a request of our own has to carry in the era without a handshake; nothing in the other."""
    meta = params.get("_meta")
    if not isinstance(meta, Mapping) or _ERA not in meta:
        return {}
    return {"_meta": {key: meta[key] for key in (_ERA, _INFO, _CAPABILITIES) if key in meta}}


def progress_token(params: Mapping[str, Any]) -> Any:
    meta = params.get("_meta")
    return meta.get("progressToken") if isinstance(meta, Mapping) else None


def _name(info: Any) -> str:
    name = info.get("name") if isinstance(info, Mapping) else None
    return name[:_NAME] if isinstance(name, str) else ""


def _asks(capabilities: Any) -> bool:
    able = capabilities.get("elicitation") if isinstance(capabilities, Mapping) else None
    return isinstance(able, Mapping) and ("form" in able or "url" not in able)
