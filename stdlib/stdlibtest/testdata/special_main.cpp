// Evaluates calls with real Stan; see special.sh.
//   exe CALLS: lines "call value derivatives" or "call error message".
// A call is the number of a function, the kinds of its arguments (r or i), and these.
#include <stan/math/prim/fun/Eigen.hpp>
#include <stan/model/model_header.hpp>
#include <stan/model/log_prob_grad.hpp>
#include <stan/io/array_var_context.hpp>
#include <cstdio>
#include <fstream>
#include <sstream>

stan::model::model_base& new_model(stan::io::var_context& data_context, unsigned int seed, std::ostream* msg_stream);

int main(int argc, char** argv) {
  std::ifstream in(argv[1]);
  for (std::string line; std::getline(in, line);) {
    std::istringstream s(line);
    int which;
    s >> which;
    std::vector<std::string> words;
    for (std::string w; s >> w;) words.push_back(w);
    size_t n = words.size() / 2;
    std::vector<double> x(8, 0.0);
    std::vector<int> ints(9, 0);
    ints[8] = which;
    for (size_t i = 0; i < n; ++i) {
      x[i] = strtod(words[n + i].c_str(), nullptr);
      if (words[i] == "i") { ints[i] = (int) x[i]; x[i] = 0; }
    }
    stan::io::array_var_context data({"s"}, x, {{8}}, {"n"}, ints, {{9}});
    std::stringstream msg;
    printf("%s :", line.c_str());
    try {
      auto& model = new_model(data, 1, &msg);
      Eigen::VectorXd u = Eigen::VectorXd::Zero(8), g;
      double lp = stan::model::log_prob_grad<true, false>(model, u, g, &msg);
      lp = model.template log_prob<false, false>(u, &msg);
      printf(" %.17g", lp);
      for (size_t i = 0; i < n; ++i)
        if (words[i] == "r") printf(" %.17g", g[i]);
      printf("\n");
    } catch (std::exception& e) {
      std::string what = e.what();
      for (char& c : what) if (c == '\n') c = ' ';
      printf(" error %s\n", what.c_str());
      stan::math::recover_memory();
    }
  }
}
