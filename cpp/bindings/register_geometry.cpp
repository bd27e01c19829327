#include "arrays.hpp"
#include "c2s_core/geometry.hpp"
#include "register.hpp"
#include "signals.hpp"

namespace c2s::bindings {
namespace {

py::tuple geometry(const In<std::uint8_t>& candidates, const In<std::int64_t>& gold) {
  const auto bytes = view("candidates", candidates, 3, "[n, m, L]");
  const auto answers = list("gold", gold);
  const auto n = static_cast<std::size_t>(candidates.shape(0)), m = static_cast<std::size_t>(candidates.shape(1)),
             length = static_cast<std::size_t>(candidates.shape(2));
  need(answers.size() == n, "gold must hold one index for each set of candidates");
  need(m >= 1 && m <= kMaxCandidates, "candidates must hold 1 to 255 in each set");
  need(length >= 1 && length <= kMaxLength, "candidates must be of 1 to 2**24 characters");

  const char* sizes = "candidates";
  auto k = fresh<std::int32_t>(sizes, {n, length + 1}), first_unique = fresh<std::int32_t>(sizes, {n}),
       union_size = fresh<std::int32_t>(sizes, {n, length});
  auto entropy = fresh<double>(sizes, {n, length + 1}), mean_entropy = fresh<double>(sizes, {n}),
       branch_entropy = fresh<double>(sizes, {n, length});
  auto forced = fresh<bool>(sizes, {n, length});
  auto cartesian = fresh<std::uint64_t>(sizes, {n});
  const GeometryColumns out{k.mutable_data(),
                            entropy.mutable_data(),
                            first_unique.mutable_data(),
                            mean_entropy.mutable_data(),
                            branch_entropy.mutable_data(),
                            union_size.mutable_data(),
                            forced.mutable_data(),
                            cartesian.mutable_data()};
  std::size_t done;
  {
    py::gil_scoped_release release;
    done = candidate_geometry(bytes, answers, {n, m, length}, out, signal_poll());
  }
  if (done < n) refuse("gold[" + std::to_string(done) + "] must be an index from 0 to " + std::to_string(m - 1));
  return py::make_tuple(k, entropy, first_unique, mean_entropy, branch_entropy, union_size, forced, cartesian);
}

}  // namespace

void register_geometry(py::module_& m) {
  m.def("candidate_geometry", &geometry, py::kw_only(), py::arg("candidates").noconvert(), py::arg("gold").noconvert(),
        R"(How fast the gold's prefix tells the candidates apart, and what each position offers (paper A.2, Table D7).

candidates: uint8 [n, m, L], 1 <= m <= 255, 1 <= L <= 2**24; gold: int64 [n], indexes from 0 to m - 1. ValueError otherwise.
Returns K(k) int32 [n, L + 1]; log2 K(k) in bits [n, L + 1]; the first k with K(k) = 1 or -1, int32 [n]; the mean of log2 K(k)
over k < L [n]; the entropy of the next character in bits [n, L]; distinct characters at a position int32 [n, L]; whether that
is one, bool [n, L]; the product of the distinct characters, uint64 [n], 2**64 - 1 where it would be larger.)");
}

}  // namespace c2s::bindings
