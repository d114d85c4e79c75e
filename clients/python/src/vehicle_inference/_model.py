"""What the service returns: typed attributes over the JSON as it was sent."""

import functools
import re
import typing
from typing import Any, Dict, Iterator, Mapping, Optional, Type, TypeVar

from typing_extensions import Literal, get_args, get_origin

ModelT = TypeVar("ModelT", bound="Model")

_KEYWORDS = ("from", "class", "import")


class Model:
    """An object of the service. An optional field that was not sent is `None`.

    Nothing is validated, so a newer service may send more fields and more values than this release knows. `model["name"]`
    reads any field; `to_dict()` returns the JSON.
    """

    __slots__ = ("_data",)
    _data: Mapping[str, Any]

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def to_dict(self) -> Dict[str, Any]:
        """The JSON as it was received."""
        return dict(self._data)

    def __getitem__(self, name: str) -> Any:
        return _wrap(self._data[name], self._type_of(name))

    def __contains__(self, name: object) -> bool:
        return name in self._data

    # Hidden from type checkers, so that they report misspelled attributes.
    if not typing.TYPE_CHECKING:

        def __getattr__(self, attribute: str) -> Any:
            if not attribute.startswith("_"):
                if attribute in self._data:
                    return self[attribute]
                for name in self._data:
                    if _attribute_of(name) == attribute:
                        return self[name]
                if attribute in _types_of(type(self)):
                    return None
            raise AttributeError(f"{type(self).__name__} has no field {attribute}")

    def _type_of(self, name: str) -> Any:
        return _types_of(type(self)).get(_attribute_of(name))

    def __dir__(self) -> Iterator[str]:
        return iter({*super().__dir__(), *map(_attribute_of, self._data)})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and other._data == self._data

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self._data)!r})"

    def __getstate__(self) -> Any:
        return self._data

    def __setstate__(self, state: Any) -> None:
        self._data = state


def _attribute_of(name: str) -> str:
    """`class` is read as `class_`, and `vehicle.pose` as `vehicle_pose`."""
    return f"{name}_" if name in _KEYWORDS else re.sub(r"\W+", "_", name).rstrip("_")


@functools.lru_cache(maxsize=None)
def _types_of(model: Type[Model]) -> Mapping[str, Any]:
    own = typing.get_type_hints(model)
    return {name: hint for name, hint in own.items() if not name.startswith("_")}


def _wrap(value: Any, hint: Any) -> Any:
    """Gives objects inside a value their class."""
    if isinstance(value, list):
        item = next((get_args(option)[0] for option in _options(hint) if get_origin(option) is list), None)
        return [_wrap(part, item) for part in value]
    if not isinstance(value, dict):
        return value
    for option in _options(hint):
        if get_origin(option) is dict:
            return {name: _wrap(part, get_args(option)[1]) for name, part in value.items()}
    model = _model_of(value, hint)
    return value if model is None else model(value)


def _options(hint: Any) -> typing.Tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) is typing.Union else (hint,)


def _model_of(value: Mapping[str, Any], hint: Any) -> Optional[Type[Model]]:
    """Alternatives are told apart by their constants."""
    models = [option for option in map(_class_of, _options(hint)) if option is not None]
    for model in models:
        literals = {name: get_args(type_) for name, type_ in _types_of(model).items() if get_origin(type_) is Literal}
        # A list of values may have grown since this release; a constant is the name of its class.
        constants = {name: values[0] for name, values in literals.items() if len(values) == 1}
        if all(value.get(name) == constant for name, constant in constants.items()):
            return model
    return models[0] if models else None


def _class_of(hint: Any) -> Optional[Type[Model]]:
    candidate = get_origin(hint) or hint
    return candidate if isinstance(candidate, type) and issubclass(candidate, Model) else None
