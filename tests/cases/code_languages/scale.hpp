#pragma once
#include <vector>

namespace posterna::scales {

template <typename T>
class Scale : public Base {
  public:
    explicit Scale(int tries) : tries_(tries) {}
    ~Scale();

    // Weighs once.
    virtual int weigh() const override;
    T operator+(const T& other) { return other; }
    static constexpr int LIMIT = 3;

  private:
    int tries_;
    struct Part { int size; };
};

using Scales = std::vector<Scale<int>>;
enum class Unit : int { Gram, Kilo };

}  // namespace posterna::scales

int posterna::scales::Scale<int>::weigh() const {
    auto twice = [](int x) { return 2 * x; };
    return twice(tries_);
}

template <class T> T largest(T a, T b) { return a > b ? a : b; }
extern "C" { void c_entry(void); }
