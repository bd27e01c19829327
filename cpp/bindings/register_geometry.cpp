#include "arrays.hpp"
#include "c2s_core/geometry.hpp"
#include "register.hpp"

namespace c2s::bindings {
namespace {

py::tuple geometry(const In<std::uint8_t>& candidates, const In<std::int64_t>& gold) {
  need(candidates.ndim() == 3 && gold.ndim() == 1 && candidates.shape(0) == gold.shape(0),
       "candidates must be [n, m, L] and gold [n]");
  const auto n = candidates.shape(0), m = candidates.shape(1), length = candidates.shape(2);
  need(m >= 1 && m <= static_cast<py::ssize_t>(kMaxCandidates) && length >= 1, "m must be 1 to 255 and L at least 1");

  py::array_t<std::int32_t> k({n, length + 1}), first_unique(n), union_size({n, length});
  py::array_t<double> entropy({n, length + 1}), mean_entropy(n), branch_entropy({n, length});
  py::array_t<bool> forced({n, length});
  py::array_t<std::uint64_t> cartesian(n);
  const GeometryColumns out{k.mutable_data(),
                            entropy.mutable_data(),
                            first_unique.mutable_data(),
                            mean_entropy.mutable_data(),
                            branch_entropy.mutable_data(),
                            union_size.mutable_data(),
                            forced.mutable_data(),
                            cartesian.mutable_data()};
  const GeometryShape shape{static_cast<std::size_t>(n), static_cast<std::size_t>(m), static_cast<std::size_t>(length)};
  const auto bytes = view(candidates);
  const auto answers = view(gold);
  std::size_t done;
  {
    py::gil_scoped_release release;
    done = candidate_geometry(bytes, answers, shape, out);
  }
  return py::make_tuple(done, k, entropy, first_unique, mean_entropy, branch_entropy, union_size, forced, cartesian);
}

}  // namespace

void register_geometry(py::module_& m) {
  m.def("candidate_geometry", &geometry, py::kw_only(), py::arg("candidates").noconvert(), py::arg("gold").noconvert());
}

}  // namespace c2s::bindings
