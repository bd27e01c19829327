#include "arrays.hpp"
#include "c2s_core/carry.hpp"
#include "register.hpp"
#include "signals.hpp"

namespace c2s::bindings {
namespace {

py::tuple counts_batch(const In<std::uint64_t>& a, const In<std::uint64_t>& b) {
  const auto left = list("a", a), right = list("b", b);
  const std::size_t n = left.size();
  need(n == right.size(), "a and b must be of equal length");
  const auto column = [n] { return fresh<std::int32_t>("a", {n}); };
  auto multiplication = column(), addition = column(), carries = column(), chain = column(), elementary = column(),
       digits = column();
  const CarryColumns out{multiplication.mutable_data(), addition.mutable_data(),   carries.mutable_data(),
                         chain.mutable_data(),          elementary.mutable_data(), digits.mutable_data()};
  std::size_t done;
  {
    py::gil_scoped_release release;
    done = carry_counts_batch(left, right, out, signal_poll());
  }
  if (done < n) {
    const std::string at = "[" + std::to_string(done) + "]";
    refuse("a" + at + " and b" + at + " must be at least 1 and their product below 2**64");
  }
  return py::make_tuple(multiplication, addition, carries, chain, elementary, digits);
}

template <class Values>
py::list to_list(const Values& values) {
  py::list list;
  for (const auto value : values) list.append(static_cast<int>(value));
  return list;
}

py::tuple trace(const Int& a, const Int& b) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t left = whole("a", a, kMost), right = whole("b", b, kMost);
  need(carry_pair_valid(left, right), "a and b must be at least 1 and their product below 2**64");
  const CarryTrace t = carry_trace(left, right);
  py::list rows;
  for (const auto& row : t.rows) rows.append(to_list(row));
  const auto& c = t.counts;
  return py::make_tuple(t.top, t.bottom, rows, to_list(t.summation), to_list(t.product), c.multiplication_carries,
                        c.addition_carries, c.chain, c.elementary, c.digits);
}

}  // namespace

void register_carry(py::module_& m) {
  m.def("carry_counts", &counts_batch, py::kw_only(), py::arg("a").noconvert(), py::arg("b").noconvert(),
        R"(Carries of grade-school multiplication of the pairs (a[i], b[i]) (paper A.2).

a, b: uint64 [n], each at least 1, products below 2**64; ValueError names the first pair that is not.
Returns six int32 arrays [n]: carries of the rows, carries of the summation, both together, the longest run of carries,
single-digit multiplications, digits of the product.)");
  m.def("carry_trace", &trace, py::kw_only(), py::arg("a"), py::arg("b"),
        R"(Every carry of one grade-school multiplication (paper A.2), least significant column first.

a, b: integers of at least 1 with a product below 2**64; ValueError otherwise. Returns (top, bottom, outgoing carries of each
row, of the summation, digits of the product, carries of the rows, of the summation, longest run, multiplications, digits).)");
}

}  // namespace c2s::bindings
