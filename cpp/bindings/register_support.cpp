#include <optional>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "c2s_core/support.hpp"
#include "register.hpp"

namespace c2s::bindings {
namespace {

SupportKind kind_of(int code) {
  need(code >= 0 && code <= 2, "kind must be 0 (full), 1 (union) or 2 (trie)");
  return static_cast<SupportKind>(code);
}

py::array_t<bool> masks(const In<std::uint8_t>& candidates, const In<std::uint8_t>& prefixes, const In<std::int64_t>& lengths,
                        int kind, const In<std::uint8_t>& alphabet) {
  need(prefixes.ndim() == 2 && lengths.ndim() == 1 && alphabet.ndim() == 1 && prefixes.shape(0) == lengths.shape(0),
       "prefixes must be [n, P], lengths [n] and alphabet [A]");
  const bool one_set = candidates.ndim() == 2;
  need(one_set || (candidates.ndim() == 3 && candidates.shape(0) == lengths.shape(0)),
       "candidates must be [m, L] or [n, m, L]");
  const auto m = candidates.shape(one_set ? 0 : 1), length = candidates.shape(one_set ? 1 : 2);
  need(m >= 1 && length >= 1, "candidates must not be empty");
  const Alphabet letters(view(alphabet));
  need(letters.distinct(), "the alphabet repeats a character");

  py::array_t<bool> out({lengths.shape(0), alphabet.shape(0)});
  const SupportBatch batch{candidates.data(),
                           one_set,
                           static_cast<std::size_t>(m),
                           static_cast<std::size_t>(length),
                           prefixes.data(),
                           static_cast<std::size_t>(prefixes.shape(1)),
                           view(lengths)};
  bool* flags = out.mutable_data();
  const SupportKind support = kind_of(kind);
  std::size_t done;
  {
    py::gil_scoped_release release;
    done = support_masks(batch, support, letters, flags);
  }
  need(done == batch.prefix_lengths.size(), "a prefix is not shorter than the candidates");
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
py::object one(const py::object& candidates, const py::object& prefix, int kind, const py::object& alphabet) {
  const SupportKind support = kind_of(kind);
  const auto letters = ascii(alphabet.ptr()), start = ascii(prefix.ptr());
  if (!letters || !start || !(PyList_Check(candidates.ptr()) || PyTuple_Check(candidates.ptr()))) return py::none();
  const Alphabet ranks(bytes(*letters));
  if (!ranks.distinct()) return py::none();

  const auto m = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(candidates.ptr()));
  std::vector<std::uint8_t> set;
  std::size_t length = 0;
  for (std::size_t i = 0; i < m; ++i) {
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
  support_mask({set.data(), m, length}, bytes(*start), support, ranks, flags);
  py::tuple mask(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) mask[i] = py::bool_(flags[i]);
  return mask;
}

}  // namespace

void register_support(py::module_& m) {
  m.def("support_masks", &masks, py::kw_only(), py::arg("candidates").noconvert(), py::arg("prefixes").noconvert(),
        py::arg("lengths").noconvert(), py::arg("kind").noconvert(), py::arg("alphabet").noconvert());
  m.def("support_one", &one, py::kw_only(), py::arg("candidates"), py::arg("prefix"), py::arg("kind").noconvert(),
        py::arg("alphabet"));
}

}  // namespace c2s::bindings
