"""One forward over many sequences without padding, each attending to its own tokens and to stored prefixes.

The new tokens of all rows stand behind each other in one row of model input. Everything in a transformer but attention works
on each token alone; attention goes through a function of ours that is registered with transformers: it stores the new keys
and values in a store and lets each row attend to its places there (as servers with paged attention do). A model
can be run so where every layer mixes tokens by that function and nothing else; `open_packed` finds out by trying.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from c2s.backends.local.last import EXACT, LastOnly, apart

NAME = "c2s_packed"
STRIPE = 128
"""On a CPU, new tokens of one row that are attended to at once: what lies above the diagonal is computed within a stripe alone."""
REFUSED = ("softcap", "s_aux", "sinks", "position_bias")
"""Arguments that change what attention computes and that `attend` does not honour."""


class Unsupported(Exception):
    """This model cannot be run packed; the message says why."""


@dataclass(slots=True)
class Row:
    """The new tokens of one sequence, and the places of all its tokens in order, the new ones last."""

    tokens: Sequence[int]
    places: np.ndarray

    @property
    def start(self) -> int:
        return len(self.places) - len(self.tokens)


@dataclass(slots=True)
class Group:
    """Rows that stand behind each other and are attended to together: `count` rows of up to `width` new tokens over `keys` places.

    `stripes` cut the width; each goes over the places up to its own last token.
    """

    first: int
    last: int
    count: int
    width: int
    keys: int
    places: torch.Tensor
    gather: torch.Tensor | None
    valid: torch.Tensor | None
    seen: torch.Tensor
    stripes: list[tuple[int, int, int]]
    masks: dict[tuple[int, int | None, int, torch.dtype], torch.Tensor] = field(default_factory=dict)

    def mask(self, stripe: tuple[int, int, int], window: int | None, repeats: int, dtype: torch.dtype) -> torch.Tensor:
        """[count, 1, repeats * its width, its keys], added to the scores: a token sees the places up to its own, within the window."""
        key = (stripe[0], window, repeats, dtype)
        if key not in self.masks:
            seen = self.seen[:, stripe[0] : stripe[1], None]
            at = torch.arange(stripe[2], device=seen.device)
            hidden = at > seen
            if window is not None:
                hidden |= at <= seen - window
            added = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device).masked_fill_(hidden, float("-inf"))
            self.masks[key] = added.repeat(1, repeats, 1)[:, None]
        return self.masks[key]


class Plan:
    """The layout of one forward pass; tensors are made once per device."""

    def __init__(self, rows: Sequence[Row], store: Store) -> None:
        self.order = sorted(range(len(rows)), key=lambda i: (len(rows[i].tokens), len(rows[i].places)))
        self.rows = [rows[i] for i in self.order]
        self.store = store
        self.layers: dict[int, int | None] = {}
        self._made: dict[torch.device, tuple[torch.Tensor, list[Group]]] = {}

    def inputs(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Token ids [1, tokens], positions [1, tokens], and where each row's last token stands [rows]."""
        ids = np.concatenate([np.asarray(r.tokens, dtype=np.int64) for r in self.rows])
        positions = np.concatenate([np.arange(r.start, len(r.places)) for r in self.rows])
        ends = np.cumsum([len(r.tokens) for r in self.rows]) - 1
        return tuple(torch.from_numpy(a).to(device) for a in (ids[None], positions[None], ends))

    def on(self, device: torch.device) -> tuple[torch.Tensor, list[Group]]:
        """The places of the new tokens, and the groups."""
        if device not in self._made:
            new = np.concatenate([r.places[r.start :] for r in self.rows])
            self._made[device] = torch.from_numpy(new).to(device), self._groups(device)
        return self._made[device]

    def _groups(self, device: torch.device) -> list[Group]:
        groups, first = [], 0
        for rows in _alike(self.rows, widest=STRIPE // 8 if device.type == "cpu" else None):
            groups.append(_group(rows, first, device))
            first = groups[-1].last
        return groups


def _alike(rows: Sequence[Row], widest: int | None) -> list[list[Row]]:
    """Neighbours whose padding to a common shape adds no more than a fifth to what attention computes; wider rows stay alone."""
    out: list[list[Row]] = []
    work, width, keys = 0, 0, 0
    for row in rows:
        own = len(row.tokens) * len(row.places)
        wider, longer = max(width, len(row.tokens)), max(keys, len(row.places))
        joins = widest is None or len(row.tokens) <= widest
        if out and joins and (len(out[-1]) + 1) * wider * longer <= 1.2 * (work + own):
            out[-1].append(row)
            work, width, keys = work + own, wider, longer
        else:
            out.append([row])
            work, width, keys = own, len(row.tokens), len(row.places)
    return out


def _group(rows: Sequence[Row], first: int, device: torch.device) -> Group:
    width, keys = max(len(r.tokens) for r in rows), max(len(r.places) for r in rows)
    places = np.stack([np.pad(r.places, (0, keys - len(r.places)), mode="edge") for r in rows])
    within = np.arange(width)
    lengths = np.array([len(r.tokens) for r in rows])
    seen = np.minimum(np.array([r.start for r in rows])[:, None] + within, np.array([len(r.places) for r in rows])[:, None] - 1)
    valid = within < lengths[:, None]
    starts = first + np.cumsum(lengths) - lengths
    gather = starts[:, None] + np.minimum(within, lengths[:, None] - 1)
    even = bool(valid.all())
    step = STRIPE if device.type == "cpu" and len(rows) == 1 else width
    stripes = [
        (at, min(at + step, width), keys if step == width else int(seen[0, min(at + step, width) - 1]) + 1) for at in range(0, width, step)
    ]

    def tensor(array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(device)

    return Group(
        first,
        first + int(lengths.sum()),
        len(rows),
        width,
        keys,
        tensor(places.ravel()),
        None if even else tensor(gather),
        None if even else tensor(valid),
        tensor(seen),
        stripes,
    )


class Store:
    """Keys and values of every layer by place, [capacity, heads, size]; the room is taken when a layer first writes."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._layers: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def write(self, layer: int, places: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Put the new tokens' keys and values, [tokens, heads, size], in their places; returns the layer's whole store."""
        if layer not in self._layers:
            self._layers[layer] = tuple(x.new_empty((self.capacity, *x.shape[1:])) for x in (key, value))
        keys, values = self._layers[layer]
        keys.index_copy_(0, places, key)
        values.index_copy_(0, places, value)
        return keys, values

    def resize(self, capacity: int) -> None:
        """More places, or fewer; what stands in those that stay is kept."""
        for layer, pair in self._layers.items():
            larger = tuple(x.new_empty((capacity, *x.shape[1:])) for x in pair)
            for new, old in zip(larger, pair, strict=True):
                new[: len(old)] = old[:capacity]
            self._layers[layer] = larger
        self.capacity = capacity

    @property
    def bytes_per_place(self) -> int:
        return sum(x[0].numel() * x.element_size() for pair in self._layers.values() for x in pair)


_running: ContextVar[Plan | None] = ContextVar("c2s_packed_plan", default=None)


def attend(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: torch.Tensor | None, **named: Any
) -> tuple[torch.Tensor, None]:
    """What transformers calls in every attention layer. Outside a packed forward pass it is transformers' own attention."""
    plan = _running.get()
    if plan is None:
        attended: tuple[torch.Tensor, None] = sdpa_attention_forward(module, query, key, value, attention_mask, **named)
        return attended
    for name in REFUSED:
        if named.get(name) is not None:
            raise Unsupported(f"its attention takes {name}")
    window = named.get("sliding_window")
    layer = getattr(module, "layer_idx", None)
    if layer is None or layer in plan.layers or query.shape[0] != 1:
        raise Unsupported("its attention layers cannot be told apart")
    plan.layers[layer] = window
    new, groups = plan.on(query.device)
    keys, values = plan.store.write(layer, new, key[0].transpose(0, 1), value[0].transpose(0, 1))
    out = query.new_empty((query.shape[2], query.shape[1], value.shape[3]))
    for group in groups:
        _attend_group(out, group, query[0], keys, values, named.get("scaling"), window)
    return out[None], None


def _attend_group(
    out: torch.Tensor, group: Group, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scale: float | None, window: int | None
) -> None:
    """Attention of one group into its tokens of `out`, [tokens, heads, size].

    Query heads that share a key head are laid behind each other as further query tokens, so that keys are never repeated.
    """
    heads, shared = query.shape[0], keys.shape[1]
    repeats = heads // shared
    q = query[:, group.first : group.last] if group.gather is None else query[:, group.gather.flatten()]
    q = q.view(shared, repeats, group.count, group.width, -1).permute(2, 0, 1, 3, 4)
    k = keys.index_select(0, group.places).view(group.count, group.keys, shared, -1).transpose(1, 2)
    v = values.index_select(0, group.places).view(group.count, group.keys, shared, -1).transpose(1, 2)
    for stripe in group.stripes:
        at, end, seen = stripe
        asked = q[:, :, :, at:end].reshape(group.count, shared, repeats * (end - at), -1)
        mask = group.mask(stripe, window, repeats, q.dtype)
        done = F.scaled_dot_product_attention(asked, k[:, :, :seen], v[:, :, :seen], attn_mask=mask, scale=scale)
        done = done.reshape(group.count, heads, end - at, -1).transpose(1, 2)
        if group.count == 1:
            out[group.first + at : group.first + end] = done[0]
        else:
            out[group.first : group.last] = done.flatten(0, 1) if group.valid is None else done[group.valid]


def _mask(*positional: Any, **named: Any) -> torch.Tensor | None:
    return None if _running.get() is not None else sdpa_mask(*positional, **named)


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, _mask)


class Packed:
    """A model that can be run packed."""

    def __init__(self, model: Any, last: LastOnly, store: Store) -> None:
        self.model, self.last, self.store = model, last, store
        self.device = model.get_input_embeddings().weight.device
        self.layers: Mapping[int, int | None] = {}

    def forward(self, rows: Sequence[Row]) -> torch.Tensor:
        """Logits after each row's last token, [rows, vocabulary], in the order of the rows."""
        plan = Plan(rows, self.store)
        ids, positions, ends = plan.inputs(self.device)
        token = _running.set(plan)
        try:
            logits = self.last.run(self.model, ends, input_ids=ids, position_ids=positions)[0]
        finally:
            _running.reset(token)
        self.layers = plan.layers
        back = torch.from_numpy(np.argsort(plan.order)).to(logits.device)
        return logits[back]


def open_packed(model: Any, last: LastOnly) -> Packed:
    """Try the model on two short sequences with a common head, against each of them run alone. Raises Unsupported with the reason."""
    config = model.config.get_text_config()
    length = min(24, getattr(config, "max_position_embeddings", None) or 24)
    one = [(7 * i + 3) % config.vocab_size for i in range(length)]
    other = [*one[: length // 3], *((11 * i + 5) % config.vocab_size for i in range(length // 2))]
    device = model.get_input_embeddings().weight.device
    with torch.inference_mode():
        alone = torch.stack([last.run(model, torch.tensor([-1]), input_ids=torch.tensor([s], device=device))[0, 0] for s in (one, other)])
        before = model.config._attn_implementation
        try:
            model.set_attn_implementation(NAME)
            packed = Packed(model, last, Store(2 * length))
            shared = np.arange(length // 3)
            rows = [
                Row(one, np.arange(length)),
                Row(other[length // 3 :], np.concatenate([shared, np.arange(length, length + length // 2)])),
            ]
            together = packed.forward(rows)
            _check_layers(config, packed.layers)
        except (Unsupported, TypeError, ValueError, KeyError, RuntimeError, AttributeError) as error:
            model.set_attn_implementation(before)
            raise Unsupported(" ".join(str(error).split())[:200] or type(error).__name__) from None
    off = apart(together, alone)
    if not off < (1e-3 if alone.dtype in EXACT else 0.1):
        model.set_attn_implementation(before)
        raise Unsupported(f"its logits differ by {off:.2g} of their size from those of sequences run alone")
    return packed


def _check_layers(config: Any, layers: Mapping[int, int | None]) -> None:
    """Every layer must mix tokens by `attend`, and a window must have been handed to it where the configuration speaks of one."""
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    if str(rope.get("rope_type", rope.get("type"))) in ("dynamic", "longrope"):
        raise Unsupported("its position encoding depends on the longest sequence of a forward")
    if len(layers) != config.num_hidden_layers:
        raise Unsupported(f"{len(layers)} of its {config.num_hidden_layers} layers are plain attention")
    kinds = getattr(config, "layer_types", None)
    if kinds is None:
        windowed = getattr(config, "sliding_window", None) is not None and getattr(config, "use_sliding_window", True)
        if windowed and not any(layers.values()):
            raise Unsupported("its attention has a window that it does not hand on")
        return
    for layer, kind in enumerate(kinds):
        if kind not in ("full_attention", "sliding_attention"):
            raise Unsupported(f"layer {layer} is {kind}")
        if kind == "sliding_attention" and not layers.get(layer):
            raise Unsupported(f"layer {layer} has a window that it does not hand on")
