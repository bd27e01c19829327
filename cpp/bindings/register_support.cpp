#include <optional>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "c2s_core/support.hpp"
#include "register.hpp"
#include "signals.hpp"

namespace c2s::bindings {
namespace {

SupportKind kind_of(const Int& code) {
  return static_cast<SupportKind>(whole("kind", code, 2));
}

py::array_t<bool> masks(const In<std::uint8_t>& candidates, const In<std::uint8_t>& prefixes, const In<std::int64_t>& lengths,
                        const Int& kind, const In<std::uint8_t>& alphabet) {
  const auto starts = view("prefixes", prefixes, 2, "[n, P]");
  const auto sizes = list("lengths", lengths);
  const std::size_t n = sizes.size(), stride = static_cast<std::size_t>(prefixes.shape(1));
  need(static_cast<std::size_t>(prefixes.shape(0)) == n, "lengths must hold one length per prefix");
  const bool one_set = candidates.ndim() == 2;
  need(one_set || candidates.ndim() == 3, "candidates must have shape [m, L] or [n, m, L]");
  need(one_set || static_cast<std::size_t>(candidates.shape(0)) == n, "candidates [n, m, L] must hold one set per prefix");
  const auto m = static_cast<std::size_t>(candidates.shape(one_set ? 0 : 1)),
             length = static_cast<std::size_t>(candidates.shape(one_set ? 1 : 2));
  need(m >= 1 && length >= 1, "candidates must not be empty");
  const Alphabet letters(list("alphabet", alphabet));
  need(letters.distinct(), "alphabet must not repeat a character");
  const SupportKind support = kind_of(kind);

  auto out = fresh<bool>("lengths and alphabet", {n, letters.size()});
  const SupportBatch batch{candidates.data(), one_set, m, length, starts.data(), stride, sizes};
  bool* flags = out.mutable_data();
  std::size_t done;
  {
    py::gil_scoped_release release;
    done = support_masks(batch, support, letters, flags, signal_poll());
  }
  if (done < n) {
    refuse("lengths[" + std::to_string(done) + "] must be an integer from 0 to " + std::to_string(std::min(length - 1, stride)));
  }
  return out;
}

std::optional<std::string_view> ascii(PyObject* object) {
  if (!PyUnicode_Check(object) || !PyUnicode_IS_ASCII(object)) return std::nullopt;
  return std::string_view(static_cast<const char*>(PyUnicode_DATA(object)),
                          static_cast<std::size_t>(PyUnicode_GET_LENGTH(object)));
}

std::span<const std::uint8_t> bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// One prefix, straight from Python strings: a tuple of flags, or None for anything unusual, which the caller explains.
// The GIL is kept: the work is shorter than giving it away, and the views point into Python strings.
py::object one(const py::object& candidates, const py::object& prefix, const Int& kind, const py::object& alphabet) {
  const SupportKind support = kind_of(kind);
  const auto letters = ascii(alphabet.ptr()), start = ascii(prefix.ptr());
  if (!letters || !start || !(PyList_Check(candidates.ptr()) || PyTuple_Check(candidates.ptr()))) return py::none();
  const Alphabet ranks(bytes(*letters));
  if (!ranks.distinct()) return py::none();

  const auto m = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(candidates.ptr()));
  std::vector<std::uint8_t> set;
  std::size_t length = 0;
  for (std::size_t i = 0; i < m; ++i) {
    if (i % 65536 == 65535 && PyErr_CheckSignals() != 0) throw py::error_already_set();
    // A signal handler is Python code, which may have shortened the list.
    if (i >= static_cast<std::size_t>(PySequence_Fast_GET_SIZE(candidates.ptr()))) return py::none();
    const auto candidate = ascii(PySequence_Fast_GET_ITEM(candidates.ptr(), static_cast<py::ssize_t>(i)));
    if (!candidate) return py::none();
    if (i == 0) {
      length = candidate->size();
      set.reserve(m * length);
    }
    if (candidate->size() != length) return py::none();
    for (const char c : *candidate) {
      const auto byte = static_cast<std::uint8_t>(c);
      if (ranks.rank(byte) < 0) return py::none();
      set.push_back(byte);
    }
  }
  if (start->size() >= length) return py::none();  // also where there is no candidate

  bool flags[256];
  Ticker tick;
  support_mask({set.data(), m, length}, bytes(*start), support, ranks, flags, tick);
  py::tuple mask(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) mask[i] = py::bool_(flags[i]);
  return mask;
}

}  // namespace

void register_support(py::module_& m) {
  m.def("support_masks", &masks, py::kw_only(), py::arg("candidates").noconvert(), py::arg("prefixes").noconvert(),
        py::arg("lengths").noconvert(), py::arg("kind"), py::arg("alphabet").noconvert(),
        R"(Which characters a controller offers after each of n prefixes: all, the union of the position, or the trie (paper, Algorithm 1).

candidates: uint8 [m, L], one set for all prefixes, or [n, m, L], one set for each; prefixes: uint8 [n, P], padded; lengths: int64
[n], 0 to min(L - 1, P); kind: 0 full, 1 union, 2 trie; alphabet: uint8 [A], distinct. Returns bool [n, A] in alphabet order.
ValueError for anything else.)");
  m.def("support_one", &one, py::kw_only(), py::arg("candidates"), py::arg("prefix"), py::arg("kind"), py::arg("alphabet"),
        R"(The characters of an alphabet that a controller offers after one prefix, as a tuple of booleans (paper, Algorithm 1).

candidates: a list or tuple of ASCII strings of one length, spelled in alphabet; prefix: a shorter ASCII string; kind: 0 full,
1 union, 2 trie (ValueError otherwise). Returns None where a string is not what it should be; the caller says why.)");
}

}  // namespace c2s::bindings
