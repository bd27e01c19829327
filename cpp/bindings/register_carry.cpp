#include "arrays.hpp"
#include "c2s_core/carry.hpp"
#include "register.hpp"

namespace c2s::bindings {
namespace {

py::tuple counts_batch(const In<std::uint64_t>& a, const In<std::uint64_t>& b) {
  need(a.ndim() == 1 && b.ndim() == 1 && a.size() == b.size(), "a and b must be one-dimensional and of equal length");
  const auto n = a.size();
  py::array_t<std::int32_t> multiplication(n), addition(n), carries(n), chain(n), elementary(n), digits(n);
  const CarryColumns out{multiplication.mutable_data(), addition.mutable_data(),   carries.mutable_data(),
                         chain.mutable_data(),          elementary.mutable_data(), digits.mutable_data()};
  const auto left = view(a), right = view(b);
  std::size_t done;
  {
    py::gil_scoped_release release;
    done = carry_counts_batch(left, right, out);
  }
  return py::make_tuple(done, multiplication, addition, carries, chain, elementary, digits);
}

template <class Values>
py::list to_list(const Values& values) {
  py::list list;
  for (const auto value : values) list.append(static_cast<int>(value));
  return list;
}

py::tuple trace(std::uint64_t a, std::uint64_t b) {
  need(carry_pair_valid(a, b), "operands must be at least 1 and their product below 2**64");
  const CarryTrace t = carry_trace(a, b);
  py::list rows;
  for (const auto& row : t.rows) rows.append(to_list(row));
  const auto& c = t.counts;
  return py::make_tuple(t.top, t.bottom, rows, to_list(t.summation), to_list(t.product), c.multiplication_carries,
                        c.addition_carries, c.chain, c.elementary, c.digits);
}

}  // namespace

void register_carry(py::module_& m) {
  m.def("carry_counts", &counts_batch, py::kw_only(), py::arg("a").noconvert(), py::arg("b").noconvert());
  m.def("carry_trace", &trace, py::kw_only(), py::arg("a").noconvert(), py::arg("b").noconvert());
}

}  // namespace c2s::bindings
