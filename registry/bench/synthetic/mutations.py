"""Documents gone wrong: bytes and members of sound ones changed at random.

The same seed gives the same documents. What comes out may be anything; the readers have
to take it as Parsed or Rejected.
"""

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

_BYTES = (b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"<!--", b"</script>", b"{")
_TEXTS = ("", "\0", "\ud800", "\u202e", "__proto__", "javascript:x", "//x", "a" * 5_000)
_SCALARS = (None, True, False, 0, -1, 1e308, 2**53, "x", *_TEXTS)
_RAW = ("NaN", "1e400", "-Infinity", "1" * 400, '"\\ud800"', '{"a":1,"a":2}', "[" * 60)
_HOLE = "%hole%"


def mutations(seeds: Sequence[bytes], count: int, random: Random) -> Iterator[bytes]:
    """count: how many. seeds: sound documents, JSON and HTML."""
    trees = [tree for tree in map(_parse, seeds) if tree is not None]
    names = sorted({name for tree in trees for name in _names_in(tree)})
    for number in range(count):
        match number % 3:
            case 0:
                yield _change_bytes(random.choice(seeds), random)
            case 1:
                yield _change_members(random.choice(trees), names, random)
            case _:
                yield _write(_invent(names, random, depth=4), random)


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _names_in(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        yield from tree
        for member in tree.values():
            yield from _names_in(member)
    elif isinstance(tree, list):
        for item in tree:
            yield from _names_in(item)


# --- bytes ----------------------------------------------------------------------------


def _change_bytes(body: bytes, random: Random) -> bytes:
    changed = bytearray(body)
    for _ in range(random.randint(1, 8)):
        start = random.randrange(len(changed) + 1)
        end = min(len(changed), start + random.randint(1, 40))
        random.choice(_BYTE_CHANGES)(changed, start, end, random)
    return bytes(changed)


def _flip(body: bytearray, start: int, end: int, random: Random) -> None:
    if start < end:
        body[start] ^= 1 << random.randrange(8)


def _delete(body: bytearray, start: int, end: int, _random: Random) -> None:
    del body[start:end]


def _insert(body: bytearray, start: int, _end: int, random: Random) -> None:
    body[start:start] = random.choice(_BYTES)


def _repeat(body: bytearray, start: int, end: int, random: Random) -> None:
    body[start:start] = body[start:end] * random.randint(1, 50)


def _cut(body: bytearray, start: int, _end: int, random: Random) -> None:
    if random.random() < 0.2:
        del body[start:]


_BYTE_CHANGES: tuple[Callable[[bytearray, int, int, Random], None], ...] = (
    _flip,
    _delete,
    _insert,
    _repeat,
    _cut,
)


# --- members --------------------------------------------------------------------------


def _change_members(tree: Any, names: Sequence[str], random: Random) -> bytes:
    changed = copy.deepcopy(tree)
    for _ in range(random.randint(1, 6)):
        container = _pick_container(changed, random)
        if isinstance(container, dict):
            _change_object(container, names, random)
        else:
            _change_array(container, names, random)
    return _write(changed, random)


def _pick_container(tree: Any, random: Random) -> Any:
    """Pick a container by going down at random; at the least the root."""
    while random.random() < 0.75:
        members = tree.values() if isinstance(tree, dict) else tree
        inner = [member for member in members if isinstance(member, dict | list)]
        if not inner:
            break
        tree = random.choice(inner)
    return tree


def _change_object(
    target: dict[str, Any], names: Sequence[str], random: Random
) -> None:
    name = random.choice(list(target) or ["x"])
    match random.randrange(5):
        case 0:
            target.pop(name, None)
        case 1:
            target[name] = _invent(names, random, depth=2)
        case 2:
            target[random.choice(names)] = target.get(name)
        case 3:
            target[random.choice(_TEXTS)] = _invent(names, random, depth=1)
        case _:
            target[name] = _HOLE


def _change_array(target: list[Any], names: Sequence[str], random: Random) -> None:
    match random.randrange(4):
        case 0:
            target.append(_invent(names, random, depth=2))
        case 1:
            random.shuffle(target)
        case 2:
            target.extend(target[:200] * random.choice([1, 2, 30]))
            del target[700:]
        case _:
            target.clear()


def _invent(names: Sequence[str], random: Random, *, depth: int) -> Any:
    if depth == 0 or random.random() < 0.3:
        return random.choice(_SCALARS)
    size = random.randint(0, 4)
    if random.random() < 0.3:
        return [_invent(names, random, depth=depth - 1) for _ in range(size)]
    return {
        random.choice(names): _invent(names, random, depth=depth - 1)
        for _ in range(size)
    }


def _write(tree: Any, random: Random) -> bytes:
    indent = random.choice([None, 1])
    text = json.dumps(tree, indent=indent, ensure_ascii=random.random() < 0.5)
    text = text.replace(f'"{_HOLE}"', random.choice(_RAW))
    return text.encode("utf-8", "surrogatepass")
