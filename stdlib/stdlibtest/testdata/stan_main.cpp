// Evaluates every case of one generated program with real Stan; see stan.sh.
//   exe POINTS FIRST LAST: lines "case point lp full gradient" or "case point error message".
#include <stan/math/prim/fun/Eigen.hpp>
#include <stan/model/model_header.hpp>
#include <stan/model/log_prob_grad.hpp>
#include <stan/io/array_var_context.hpp>
#include <cstdio>
#include <fstream>
#include <sstream>

stan::model::model_base& new_model(stan::io::var_context& data_context, unsigned int seed, std::ostream* msg_stream);

int main(int argc, char** argv) {
  std::vector<Eigen::VectorXd> points;
  std::ifstream in(argv[1]);
  for (std::string line; std::getline(in, line);) {
    std::istringstream s(line);
    std::vector<double> v;
    for (double x; s >> x;) v.push_back(x);
    points.push_back(Eigen::Map<Eigen::VectorXd>(v.data(), v.size()));
  }
  for (int which = atoi(argv[2]); which <= atoi(argv[3]); ++which) {
    std::vector<std::string> names{"which"};
    std::vector<int> values{which};
    std::vector<std::vector<size_t>> dims{{}};
    stan::io::array_var_context data(names, values, dims);
    std::stringstream msg;
    auto& model = new_model(data, 1, &msg);
    for (size_t k = 0; k < points.size(); ++k) {
      try {
        Eigen::VectorXd x = points[k], g;
        double lp = stan::model::log_prob_grad<true, false>(model, x, g, &msg);
        double full = model.template log_prob<false, false>(x, &msg);
        printf("%d %zu %.17g %.17g", which, k, lp, full);
        for (long i = 0; i < g.size(); ++i) printf(" %.17g", g[i]);
        printf("\n");
      } catch (std::exception& e) {
        std::string what = e.what();
        for (char& c : what) if (c == '\n') c = ' ';
        printf("%d %zu error %s\n", which, k, what.c_str());
        stan::math::recover_memory();
      }
    }
    delete &model;
  }
}
