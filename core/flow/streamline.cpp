#include "core/flow/streamline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/flow/affine_field.h"

namespace mambarium {
namespace {

constexpr std::int64_t largest_dimension = 16;

// An affine field whose loops the compiler unrolls; the same sums in the same order as AffineField's own.
template <std::int64_t R>
class UnrolledAffine {
 public:
  explicit UnrolledAffine(const AffineField& field) {
    std::copy_n(field.J.begin(), R * R, J_.begin());
    std::copy_n(field.c.begin(), R, c_.begin());
  }
  std::int64_t dimension() const { return R; }
  bool operator()(std::span<const double> z, std::span<double> v) const {
    for (std::int64_t i = 0; i < R; ++i) {
      double sum = c_[i];
      for (std::int64_t j = 0; j < R; ++j) sum += J_[i * R + j] * z[j];
      v[i] = sum;
    }
    return true;
  }

 private:
  std::array<double, R * R> J_;
  std::array<double, R> c_;
};

// One side of a line. R: the dimension where it is known to the compiler, else 0.
template <std::int64_t R, class Field>
class Side {
 public:
  Side(const Field& field, const Box& box, const StreamlineOptions& options, double sign)
      : field_(field), options_(options), sign_(sign), dimension_(field.dimension()) {
    for (std::int64_t i = 0; i < r(); ++i) {
      lower_[i] = box.lower[i];
      upper_[i] = box.upper[i];
      scale_[i] = 1 / box.extent(i);
    }
  }

  // Appends the points after the seed.
  StreamlineEnd follow(std::span<const double> seed, Streamline& line) {
    for (std::int64_t i = 0; i < r(); ++i) y_[i] = seed[i];
    if (!evaluate(y_, k_[0])) return StreamlineEnd::no_field;
    if (!inside(y_)) return StreamlineEnd::border;
    double step = 0;
    while (true) {
      const double seen = length(k_[0], scale_), speed = length(k_[0]);
      fastest_ = std::max(fastest_, speed);
      if (!(speed > options_.rest * fastest_) || seen == 0) return StreamlineEnd::at_rest;
      constexpr double first = 0.01, farthest = 0.25, nearest = 1e-9;  // box lengths
      step = step == 0 ? first / seen : std::min(step, farthest / seen);
      double error = 0;
      while (true) {
        const bool defined = advance(step);
        error = defined ? error_of(step) : 0;
        if (defined && error <= 1) break;
        step *= defined && std::isfinite(error) ? std::max(0.2, 0.9 * std::pow(error, -0.2)) : 0.3;
        if (!(step * seen > nearest)) return StreamlineEnd::no_field;
      }
      if (const StreamlineEnd end = append(step, seen, line); end != StreamlineEnd::seed) return end;
      time_ += step;
      y_ = next_;
      k_[0] = k_[6];
      step *= error > 0 ? std::clamp(0.9 * std::pow(error, -0.2), 0.5, 5.0) : 5.0;
    }
  }

 private:
  using Point = std::array<double, R == 0 ? largest_dimension : R>;

  std::int64_t r() const {
    if constexpr (R > 0) return R;
    return dimension_;
  }

  bool evaluate(const Point& z, Point& v) const {
    if (!field_({z.data(), static_cast<std::size_t>(r())}, {v.data(), static_cast<std::size_t>(r())})) return false;
    double sum = 0;
    for (std::int64_t i = 0; i < r(); ++i) {
      v[i] *= sign_;
      sum += v[i];
    }
    return std::isfinite(sum);
  }

  bool inside(const Point& z) const {
    for (std::int64_t i = 0; i < r(); ++i)
      if (!(z[i] >= lower_[i] && z[i] <= upper_[i])) return false;
    return true;
  }

  double length(const Point& v) const {
    double squares = 0;
    for (std::int64_t i = 0; i < r(); ++i) squares += v[i] * v[i];
    return std::sqrt(squares);
  }

  double length(const Point& v, const Point& scale) const {
    double squares = 0;
    for (std::int64_t i = 0; i < r(); ++i) squares += v[i] * v[i] * scale[i] * scale[i];
    return std::sqrt(squares);
  }

  // next_ and the slopes k_[1] .. k_[6], the last one at next_.
  bool advance(double step) {
    static constexpr double a[6][6] = {
        {1. / 5},
        {3. / 40, 9. / 40},
        {44. / 45, -56. / 15, 32. / 9},
        {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
        {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
        {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
    };
    for (std::int64_t stage = 0; stage < 6; ++stage) {
      for (std::int64_t i = 0; i < r(); ++i) {
        double sum = 0;
        for (std::int64_t before = 0; before <= stage; ++before) sum += a[stage][before] * k_[before][i];
        next_[i] = y_[i] + step * sum;
      }
      if (!evaluate(next_, k_[stage + 1])) return false;
    }
    return true;
  }

  double error_of(double step) const {
    static constexpr double e[7] = {71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};
    double squares = 0;
    for (std::int64_t i = 0; i < r(); ++i) {
      double sum = 0;
      for (std::int64_t stage = 0; stage < 7; ++stage) sum += e[stage] * k_[stage][i];
      const double relative = step * sum * scale_[i] / options_.tolerance;
      squares += relative * relative;
    }
    return std::sqrt(squares / static_cast<double>(r()));
  }

  void prepare_interpolation(double step) {
    static constexpr double d[7] = {-12715105075. / 11282082432,  0,
                                    87487479700. / 32700410799,   -10690763975. / 1880347072,
                                    701980252875. / 199316789632, -1453857185. / 822651844,
                                    69997945. / 29380423};
    for (std::int64_t i = 0; i < r(); ++i) {
      const double moved = next_[i] - y_[i], bend = step * k_[0][i] - moved;
      double sum = 0;
      for (std::int64_t stage = 0; stage < 7; ++stage) sum += d[stage] * k_[stage][i];
      terms_[0][i] = moved;
      terms_[1][i] = bend;
      terms_[2][i] = moved - step * k_[6][i] - bend;
      terms_[3][i] = step * sum;
    }
  }

  Point interpolate(double share) const {
    Point z;
    const double left = 1 - share;
    for (std::int64_t i = 0; i < r(); ++i)
      z[i] = y_[i] + share * (terms_[0][i] + left * (terms_[1][i] + share * (terms_[2][i] + left * terms_[3][i])));
    return z;
  }

  double bend() const {
    double dot = 0;
    for (std::int64_t i = 0; i < r(); ++i) dot += k_[0][i] * k_[6][i] * scale_[i] * scale_[i];
    const double lengths = length(k_[0], scale_) * length(k_[6], scale_);
    return lengths > 0 ? std::acos(std::clamp(dot / lengths, -1.0, 1.0)) : 0;
  }

  // The points of an accepted step; StreamlineEnd::seed: go on.
  StreamlineEnd append(double step, double seen, Streamline& line) {
    const double way = 0.5 * step * (seen + length(k_[6], scale_));
    const double wanted = std::ceil(std::max({way / options_.spacing, bend() / options_.turn, 1.0}));
    const auto segments = static_cast<std::int64_t>(std::min(wanted, static_cast<double>(options_.most_points)));
    prepare_interpolation(step);
    double before = 0;
    Point last = y_;
    for (std::int64_t segment = 1; segment <= segments; ++segment) {
      double share = static_cast<double>(segment) / static_cast<double>(segments);
      Point z = segment == segments ? next_ : interpolate(share);
      StreamlineEnd end = StreamlineEnd::seed;
      if (!inside(z)) {
        constexpr int bisections = 40;
        double in = before, out = share;
        for (int bisection = 0; bisection < bisections; ++bisection) {
          const double middle = 0.5 * (in + out);
          (inside(interpolate(middle)) ? in : out) = middle;
        }
        z = interpolate(share = in);
        end = StreamlineEnd::border;
      }
      Point v = k_[6], way_here;
      if ((segment < segments || end != StreamlineEnd::seed) && !evaluate(z, v)) return StreamlineEnd::no_field;
      for (std::int64_t i = 0; i < r(); ++i) way_here[i] = z[i] - last[i];
      line.arc_length += length(way_here);
      covered_ += length(way_here, scale_);
      const double speed = length(v);
      fastest_ = std::max(fastest_, speed);
      for (std::int64_t i = 0; i < r(); ++i) line.points.push_back(z[i]);
      line.speed.push_back(speed);
      line.time.push_back(sign_ * (time_ + share * step));
      ++points_;
      if (end != StreamlineEnd::seed) return end;
      if (covered_ >= options_.longest) return StreamlineEnd::length;
      if (points_ >= options_.most_points) return StreamlineEnd::points;
      if (!(speed > options_.rest * fastest_)) return StreamlineEnd::at_rest;
      last = z;
      before = share;
    }
    return StreamlineEnd::seed;
  }

  const Field& field_;
  const StreamlineOptions& options_;
  const double sign_;
  const std::int64_t dimension_;
  Point lower_{}, upper_{}, scale_{}, y_{}, next_{};
  std::array<Point, 7> k_{};
  std::array<Point, 4> terms_{};
  double time_ = 0, covered_ = 0, fastest_ = 0;
  std::int64_t points_ = 0;
};

template <std::int64_t R>
StreamlineEnd follow_in(const FieldView& field, std::span<const double> seed, const Box& box,
                        const StreamlineOptions& options, double sign, Streamline& line) {
  if constexpr (R > 0)
    if (const AffineField* const affine = field.affine())
      return Side<R, UnrolledAffine<R>>(UnrolledAffine<R>(*affine), box, options, sign).follow(seed, line);
  return Side<R, FieldView>(field, box, options, sign).follow(seed, line);
}

StreamlineEnd follow(const FieldView& field, std::span<const double> seed, const Box& box,
                     const StreamlineOptions& options, double sign, Streamline& line) {
  switch (field.dimension()) {
    case 2:
      return follow_in<2>(field, seed, box, options, sign, line);
    case 3:
      return follow_in<3>(field, seed, box, options, sign, line);
    default:
      return follow_in<0>(field, seed, box, options, sign, line);
  }
}

void check(const FieldView& field, const Box& box, const StreamlineOptions& options) {
  const std::int64_t dimension = field.dimension();
  if (dimension < 1 || dimension > largest_dimension)
    throw std::invalid_argument("streamline: the field has " + std::to_string(dimension) + " dimensions; 1 to " +
                                std::to_string(largest_dimension) + " can be followed");
  check_box(box, dimension, "streamline");
  const std::pair<const char*, double> numbers[] = {{"tolerance", options.tolerance},
                                                    {"spacing", options.spacing},
                                                    {"turn", options.turn},
                                                    {"longest", options.longest},
                                                    {"rest", options.rest}};
  for (const auto& [name, number] : numbers)
    if (!(number > 0))
      throw std::invalid_argument(std::string("streamline: ") + name + " is " + std::to_string(number) +
                                  ", but it must be above 0");
  if (options.most_points < 1)
    throw std::invalid_argument("streamline: most_points is " + std::to_string(options.most_points) +
                                ", but it must be 1 or more");
}

Streamline follow_both(const FieldView& field, std::span<const double> seed, const Box& box,
                       const StreamlineOptions& options) {
  const std::int64_t r = field.dimension();
  if (!std::ranges::all_of(seed, [](double value) { return std::isfinite(value); }))
    throw std::invalid_argument("streamline: a coordinate of the seed is not finite");
  Streamline line;
  line.dimension = r;
  std::array<double, largest_dimension> v;
  if (!field(seed, {v.data(), static_cast<std::size_t>(r)})) {
    line.backward_end = line.forward_end = StreamlineEnd::no_field;
    return line;
  }
  if (options.direction != StreamlineDirection::forward)
    line.backward_end = follow(field, seed, box, options, -1, line);
  // What was followed against the flow now comes before the seed.
  std::ranges::reverse(line.speed);
  std::ranges::reverse(line.time);
  for (std::int64_t low = 0, high = line.count() - 1; low < high; ++low, --high)
    std::swap_ranges(line.points.begin() + low * r, line.points.begin() + (low + 1) * r,
                     line.points.begin() + high * r);
  double squares = 0;
  for (std::int64_t i = 0; i < r; ++i) squares += v[i] * v[i];
  line.points.insert(line.points.end(), seed.begin(), seed.end());
  line.speed.push_back(std::sqrt(squares));
  line.time.push_back(0);
  if (options.direction != StreamlineDirection::backward) line.forward_end = follow(field, seed, box, options, 1, line);
  return line;
}

}  // namespace

Streamline streamline(FieldView field, std::span<const double> seed, const Box& box, const StreamlineOptions& options) {
  check(field, box, options);
  if (std::ssize(seed) != field.dimension())
    throw std::invalid_argument("streamline: the seed has " + std::to_string(seed.size()) +
                                " coordinates, but the field has " + std::to_string(field.dimension()) + " dimensions");
  return follow_both(field, seed, box, options);
}

std::vector<Streamline> streamlines(FieldView field, std::span<const double> seeds, const Box& box,
                                    const StreamlineOptions& options) {
  check(field, box, options);
  const std::int64_t r = field.dimension();
  if (std::ssize(seeds) % r != 0)
    throw std::invalid_argument("streamline: " + std::to_string(seeds.size()) + " numbers are not whole seeds of " +
                                std::to_string(r) + " dimensions");
  std::vector<Streamline> lines;
  lines.reserve(std::ssize(seeds) / r);
  for (std::int64_t first = 0; first < std::ssize(seeds); first += r)
    lines.push_back(follow_both(field, seeds.subspan(first, r), box, options));
  return lines;
}

}  // namespace mambarium
