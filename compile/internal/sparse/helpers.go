package sparse

import (
	"reflect"
	"slices"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/source"
)

// text has the functions that a rewritten program calls, each after those that it calls itself. w
// are values, p and q patterns. The density of normal distributions has its terms without variates
// from the library's density of as many zeros, whose standard deviation has the same determinant:
// statements with ~ then drop the terms that Stan's drop.
const text = `functions {
  array[] int sparse_starts(array[] int p) {
    return p[3:(p[1] + 3)];
  }
  array[] int sparse_columns(array[] int p) {
    return p[(p[1] + 4):size(p)];
  }
  array[] int sparse_rows(array[] int p) {
    array[size(p) - p[1] - 3] int row;
    for (i in 1:p[1]) {
      for (k in p[i + 2]:(p[i + 3] - 1)) {
        row[k] = i;
      }
    }
    return row;
  }
  array[] int sparse_numbers(int n) {
    array[n] int out;
    for (k in 1:n) {
      out[k] = k;
    }
    return out;
  }
  array[] int sparse_sort(array[] int key, int n, array[] int at) {
    array[n + 1] int next = rep_array(1, n + 1);
    array[size(at)] int out;
    for (k in at) {
      next[key[k] + 1] += 1;
    }
    for (j in 2:n) {
      next[j] += next[j - 1] - 1;
    }
    for (k in at) {
      out[next[key[k]]] = k;
      next[key[k]] += 1;
    }
    return out;
  }
  array[] int sparse_order(int m, int n, array[] int row, array[] int column) {
    if (size(row) != size(column)) {
      reject("to_sparse_matrix: there are ", size(row), " rows, but ", size(column), " columns");
    }
    for (k in 1:size(row)) {
      if (row[k] < 1 || row[k] > m || column[k] < 1 || column[k] > n) {
        reject("to_sparse_matrix: row ", row[k], " and column ", column[k], " are not in a matrix of ", m, " rows and ", n, " columns");
      }
    }
    return sparse_sort(row, m, sparse_sort(column, n, sparse_numbers(size(row))));
  }
  array[] int sparse_sorted(int m, int n, array[] int row, array[] int column) {
    array[m + 3 + size(row)] int p = rep_array(0, m + 3 + size(row));
    p[1] = m;
    p[2] = n;
    for (k in 1:size(row)) {
      if (k > 1 && (row[k] < row[k - 1] || row[k] == row[k - 1] && column[k] < column[k - 1])) {
        reject("the values of a sparse matrix must be sorted by rows, and within them by columns");
      }
      if (k > 1 && row[k] == row[k - 1] && column[k] == column[k - 1]) {
        reject("a sparse matrix has two values for row ", row[k], " and column ", column[k]);
      }
      p[row[k] + 3] += 1;
      p[m + 3 + k] = column[k];
    }
    p[3] = 1;
    for (i in 1:m) {
      p[i + 3] += p[i + 2];
    }
    return p;
  }
  array[] int sparse_pattern(int m, int n, array[] int row, array[] int column) {
    array[size(row)] int order = sparse_order(m, n, row, column);
    return sparse_sorted(m, n, row[order], column[order]);
  }
  array[] int sparse_of(array[] int p, int m, int n) {
    if (p[1] != m || p[2] != n) {
      reject("a sparse matrix is declared with ", m, " rows and ", n, " columns, but its value has ", p[1], " and ", p[2]);
    }
    return p;
  }
  array[] int sparse_of_matrix(matrix x) {
    return append_array({rows(x), cols(x)}, append_array(csr_extract_u(x), csr_extract_v(x)));
  }
  array[] int sparse_of_rows(int m, int n, array[] int v, array[] int u) {
    array[size(v)] int row;
    if (size(u) != m + 1 || u[1] != 1 || u[m + 1] != size(v) + 1) {
      reject("to_sparse_matrix: u must have ", m + 1, " elements, from 1 to ", size(v) + 1, ", for ", m, " rows and ", size(v), " values");
    }
    for (i in 1:m) {
      if (u[i + 1] < u[i]) {
        reject("to_sparse_matrix: u must not decrease, but element ", i + 1, " is ", u[i + 1]);
      }
      for (k in u[i]:(u[i + 1] - 1)) {
        row[k] = i;
        if (v[k] < 1 || v[k] > n) {
          reject("to_sparse_matrix: column ", v[k], " is not in a matrix of ", n, " columns");
        }
      }
    }
    return sparse_sorted(m, n, row, v);
  }
  vector sparse_counted(vector w, array[] int place) {
    if (num_elements(w) != size(place)) {
      reject("to_sparse_matrix: there are ", num_elements(w), " values for ", size(place), " places");
    }
    return w;
  }
  array[] int sparse_transposition(array[] int p) {
    return sparse_sort(sparse_columns(p), p[2], sparse_numbers(size(p) - p[1] - 3));
  }
  array[] int sparse_transpose(array[] int p) {
    array[size(p) - p[1] - 3] int order = sparse_transposition(p);
    return sparse_sorted(p[2], p[1], sparse_columns(p)[order], sparse_rows(p)[order]);
  }
  int sparse_equal(array[] int p, array[] int q) {
    if (size(p) != size(q)) {
      return 0;
    }
    for (k in 1:size(p)) {
      if (p[k] != q[k]) {
        return 0;
      }
    }
    return 1;
  }
  array[] int sparse_same(array[] int p, array[] int q) {
    if (!sparse_equal(p, q)) {
      reject("the two sides of a condition are sparse matrices with values at different places");
    }
    return p;
  }
  array[] int sparse_union(array[] int p, array[] int q) {
    array[size(p) + size(q)] int row;
    array[size(p) + size(q)] int column;
    int count = 0;
    if (p[1] != q[1] || p[2] != q[2]) {
      reject("the sum of sparse matrices of ", p[1], " rows and ", p[2], " columns, and of ", q[1], " and ", q[2]);
    }
    if (sparse_equal(p, q)) {
      return p;
    }
    for (i in 1:p[1]) {
      int k = p[i + 2];
      int l = q[i + 2];
      while (k < p[i + 3] || l < q[i + 3]) {
        int c = k < p[i + 3] ? p[p[1] + 3 + k] : p[2] + 1;
        int d = l < q[i + 3] ? q[q[1] + 3 + l] : p[2] + 1;
        count += 1;
        row[count] = i;
        column[count] = min(c, d);
        k += c <= d;
        l += d <= c;
      }
    }
    return sparse_sorted(p[1], p[2], row[1:count], column[1:count]);
  }
  array[] int sparse_places(array[] int p, array[] int q) {
    array[size(q) - q[1] - 3] int out;
    for (i in 1:q[1]) {
      int k = p[i + 2];
      for (l in q[i + 2]:(q[i + 3] - 1)) {
        while (k < p[i + 3] && p[p[1] + 3 + k] < q[q[1] + 3 + l]) {
          k += 1;
        }
        out[l] = size(p) - p[1] - 2;
        if (k < p[i + 3]) {
          if (p[p[1] + 3 + k] == q[q[1] + 3 + l]) {
            out[l] = k;
          }
        }
      }
    }
    return out;
  }
  array[] int sparse_places_in(array[] int p, array[] int q) {
    if (!sparse_equal(sparse_union(p, q), q)) {
      reject("a sparse matrix is assigned one that has values at other places");
    }
    return sparse_places(p, q);
  }
  vector sparse_placed(vector w, array[] int at) {
    return append_row(w, 0)[at];
  }
  vector sparse_sized(vector v, int n) {
    if (num_elements(v) != n) {
      reject("a diagonal matrix of size ", num_elements(v), " is combined with a sparse matrix of size ", n);
    }
    return v;
  }
  array[] int sparse_pairs(array[] int p, array[] int q) {
    int count = 0;
    if (p[2] != q[1]) {
      reject("the product of sparse matrices of ", p[1], " rows and ", p[2], " columns, and of ", q[1], " and ", q[2]);
    }
    for (k in sparse_columns(p)) {
      count += q[k + 3] - q[k + 2];
    }
    array[count] int left;
    array[count] int right;
    array[count] int row;
    array[count] int column;
    int next = 0;
    for (i in 1:p[1]) {
      for (k in p[i + 2]:(p[i + 3] - 1)) {
        int c = p[p[1] + 3 + k];
        for (l in q[c + 2]:(q[c + 3] - 1)) {
          next += 1;
          left[next] = k;
          right[next] = l;
          row[next] = i;
          column[next] = q[q[1] + 3 + l];
        }
      }
    }
    array[count] int order = sparse_sort(row, p[1], sparse_sort(column, q[2], sparse_numbers(count)));
    return append_array(append_array(left[order], right[order]), append_array(row[order], column[order]));
  }
  array[] int sparse_part(array[] int pairs, int part) {
    int n = size(pairs) %/% 4;
    return pairs[((part - 1) * n + 1):(part * n)];
  }
  array[] int sparse_first(array[] int pairs) {
    array[size(pairs) %/% 4] int row = sparse_part(pairs, 3);
    array[size(pairs) %/% 4] int column = sparse_part(pairs, 4);
    array[size(row)] int out;
    int count = 0;
    for (k in 1:size(row)) {
      int new = 1;
      if (k > 1) {
        new = row[k] != row[k - 1] || column[k] != column[k - 1];
      }
      if (new) {
        count += 1;
        out[count] = k;
      }
    }
    return out[1:count];
  }
  array[] int sparse_product_pattern(array[] int p, array[] int q, array[] int pairs, array[] int first) {
    return sparse_sorted(p[1], q[2], sparse_part(pairs, 3)[first], sparse_part(pairs, 4)[first]);
  }
  vector sparse_product(vector w, vector x, array[] int pairs, array[] int first) {
    int count = size(pairs) %/% 4;
    if (count == 0) {
      return rep_vector(0, 0);
    }
    return csr_matrix_times_vector(size(first), count, w[sparse_part(pairs, 1)] .* x[sparse_part(pairs, 2)], sparse_numbers(count),
                                   append_array(first, {count + 1}), rep_vector(1, count));
  }
  vector sparse_times_vector(vector w, array[] int p, vector b) {
    if (num_elements(b) != p[2]) {
      reject("a sparse matrix of ", p[2], " columns is multiplied by a vector of size ", num_elements(b));
    }
    if (num_elements(w) == 0) {
      return rep_vector(0, p[1]);
    }
    return csr_matrix_times_vector(p[1], p[2], w, sparse_columns(p), sparse_starts(p), b);
  }
  matrix sparse_times_matrix(vector w, array[] int p, matrix b) {
    matrix[p[1], cols(b)] out;
    if (rows(b) != p[2]) {
      reject("a sparse matrix of ", p[2], " columns is multiplied by a matrix of ", rows(b), " rows");
    }
    for (j in 1:cols(b)) {
      out[, j] = sparse_times_vector(w, p, b[, j]);
    }
    return out;
  }
  matrix sparse_to_matrix(vector w, array[] int p) {
    if (num_elements(w) == 0) {
      return rep_matrix(0, p[1], p[2]);
    }
    return csr_to_dense_matrix(p[1], p[2], w, sparse_columns(p), sparse_starts(p));
  }
  real sparse_total(vector w, array[] int p) {
    return sum(w);
  }
  int sparse_place(array[] int p, int i, int j) {
    if (i < 1 || i > p[1] || j < 1 || j > p[2]) {
      reject("index [", i, ", ", j, "] is out of range: the sparse matrix has ", p[1], " rows and ", p[2], " columns");
    }
    for (k in p[i + 2]:(p[i + 3] - 1)) {
      if (p[p[1] + 3 + k] == j) {
        return k;
      }
    }
    return size(p) - p[1] - 2;
  }
  real sparse_element(vector w, array[] int p, int i, int j) {
    return append_row(w, 0)[sparse_place(p, i, j)];
  }
  array[] int sparse_diagonal_places(array[] int p) {
    array[min(p[1], p[2])] int at;
    for (i in 1:min(p[1], p[2])) {
      at[i] = sparse_place(p, i, i);
    }
    return at;
  }
  void sparse_square(array[] int p) {
    if (p[1] != p[2]) {
      reject("a sparse matrix must be square here, but has ", p[1], " rows and ", p[2], " columns");
    }
  }
  array[] int sparse_diagonal_pattern(array[] int p) {
    sparse_square(p);
    return append_array({p[1], p[1]}, append_array(sparse_numbers(p[1] + 1), sparse_numbers(p[1])));
  }
  array[] int sparse_own(array[] int p) {
    sparse_square(p);
    return sparse_places(p, sparse_union(p, sparse_transpose(p)));
  }
  array[] int sparse_mirror(array[] int p) {
    return append_array(sparse_transposition(p), {size(p) - p[1] - 2})[sparse_places(sparse_transpose(p), sparse_union(p, sparse_transpose(p)))];
  }
  void sparse_symmetric(vector w, array[] int own, array[] int mirror) {
    if (max(append_row(abs(sparse_placed(w, own) - sparse_placed(w, mirror)), 0)) > 1e-8) {
      reject("a sparse matrix must be symmetric here, but is not");
    }
  }
  real sparse_quad_form_vector(vector w, array[] int p, vector b) {
    sparse_square(p);
    return dot_product(b, sparse_times_vector(w, p, b));
  }
  matrix sparse_quad_form_matrix(vector w, array[] int p, matrix b) {
    sparse_square(p);
    return b' * sparse_times_matrix(w, p, b);
  }
  real sparse_quad_form_sym_vector(vector w, array[] int p, array[] int own, array[] int mirror, vector b) {
    sparse_symmetric(w, own, mirror);
    return sparse_quad_form_vector(w, p, b);
  }
  matrix sparse_quad_form_sym_matrix(vector w, array[] int p, array[] int own, array[] int mirror, matrix b) {
    sparse_symmetric(w, own, mirror);
    return sparse_quad_form_matrix(w, p, b);
  }
  real sparse_trace_quad_form_vector(vector w, array[] int p, vector b) {
    return sparse_quad_form_vector(w, p, b);
  }
  real sparse_trace_quad_form_matrix(vector w, array[] int p, matrix b) {
    sparse_square(p);
    return sum(b .* sparse_times_matrix(w, p, b));
  }
  vector sparse_solve_vector(vector w, array[] int p, array[] int own, array[] int mirror, vector b) {
    sparse_symmetric(w, own, mirror);
    if (num_elements(b) != p[1]) {
      reject("a sparse matrix of ", p[1], " rows is divided into a vector of size ", num_elements(b));
    }
    return csr_mdivide_left_spd(p[1], w, sparse_columns(p), sparse_starts(p), b);
  }
  matrix sparse_solve_matrix(vector w, array[] int p, array[] int own, array[] int mirror, matrix b) {
    sparse_symmetric(w, own, mirror);
    if (rows(b) != p[1]) {
      reject("a sparse matrix of ", p[1], " rows is divided into a matrix of ", rows(b), " rows");
    }
    return csr_mdivide_left_spd(p[1], w, sparse_columns(p), sparse_starts(p), b);
  }
  row_vector sparse_solve_right_row(vector w, array[] int p, array[] int own, array[] int mirror, row_vector b) {
    return sparse_solve_vector(w, p, own, mirror, b')';
  }
  matrix sparse_solve_right_matrix(vector w, array[] int p, array[] int own, array[] int mirror, matrix b) {
    return sparse_solve_matrix(w, p, own, mirror, b')';
  }
  real sparse_log_determinant(vector w, array[] int p, array[] int own, array[] int mirror) {
    sparse_symmetric(w, own, mirror);
    if (p[1] == 0) {
      return 0;
    }
    return csr_log_determinant_spd(p[1], w, sparse_columns(p), sparse_starts(p));
  }
  real sparse_scale(vector w, array[] int p, array[] int own, array[] int mirror) {
    return exp(-sparse_log_determinant(w, p, own, mirror) / (2.0 * max(p[1], 1)));
  }
  real sparse_multi_normal_prec_lpdf(vector y, vector mu, vector w, array[] int p, array[] int own, array[] int mirror) {
    if (num_elements(y) != p[1] || num_elements(mu) != p[1]) {
      reject("multi_normal_prec: the variate has size ", num_elements(y), ", the location ", num_elements(mu), " and the precision ", p[1], " rows");
    }
    return normal_lupdf(rep_vector(0, p[1]) | 0, sparse_scale(w, p, own, mirror)) - 0.5 * sparse_quad_form_vector(w, p, y - mu);
  }
  real sparse_multi_normal_prec_lpdf(array[] vector y, array[] vector mu, vector w, array[] int p, array[] int own, array[] int mirror) {
    matrix[p[1], size(y)] d;
    if (size(y) != size(mu)) {
      reject("multi_normal_prec: there are ", size(y), " variates, but ", size(mu), " locations");
    }
    for (n in 1:size(y)) {
      if (num_elements(y[n]) != p[1] || num_elements(mu[n]) != p[1]) {
        reject("multi_normal_prec: variate ", n, " has size ", num_elements(y[n]), ", its location ", num_elements(mu[n]), " and the precision ", p[1], " rows");
      }
      d[, n] = y[n] - mu[n];
    }
    return normal_lupdf(rep_vector(0, size(y) * p[1]) | 0, sparse_scale(w, p, own, mirror)) - 0.5 * sparse_trace_quad_form_matrix(w, p, d);
  }
  vector sparse_multi_normal_prec_rng(vector mu, vector w, array[] int p, array[] int own, array[] int mirror) {
    return multi_normal_rng(mu, inverse_spd(sparse_to_matrix(w, p)));
  }
  array[] vector sparse_vectors(array[] row_vector x) {
    array[size(x)] vector[size(x) > 0 ? num_elements(x[1]) : 0] out;
    for (n in 1:size(x)) {
      out[n] = x[n]';
    }
    return out;
  }
  int sparse_size(vector w, array[] int p) {
    return p[1] * p[2];
  }
  array[] int sparse_dims(vector w, array[] int p) {
    return p[1:2];
  }
  array[] int sparse_columns_of(vector w, array[] int p) {
    return sparse_columns(p);
  }
  array[] int sparse_starts_of(vector w, array[] int p) {
    return sparse_starts(p);
  }
}
`

// called returns a call of one of the functions.
func (r *rewriter) called(at ast.Base, name string, args ...ast.Expr) ast.Expr {
	return &ast.CallExpr{Base: at, Func: ast.Ident{Base: at, Name: r.helper(name)}, Args: args}
}

// helper returns the name in the program of one of the functions.
func (r *rewriter) helper(name string) string {
	if r.helped[name] == "" {
		r.helped[name] = r.names.New(name)
	}
	return r.helped[name]
}

// helpers returns the functions that are called. Their nodes have no positions, so that messages
// are about the calls.
func (r *rewriter) helpers() []ast.Stmt {
	if len(r.helped) == 0 {
		return nil
	}
	tree, _ := lang.Parse(source.NewFile("sparse matrices", text))
	stmts := tree.Block(ast.Functions).Stmts
	own := map[string]bool{}
	for _, s := range stmts {
		own[s.(*ast.FunctionDecl).Name.Name] = true
	}
	var out []ast.Stmt
	for _, s := range slices.Backward(stmts) {
		f := s.(*ast.FunctionDecl)
		if r.helped[f.Name.Name] == "" {
			continue
		}
		f.Name.Name = r.helped[f.Name.Name]
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Reject:
				n.Range = true
			case *ast.CallExpr:
				if own[n.Func.Name] {
					n.Func.Name = r.helper(n.Func.Name)
				}
			}
			reflect.ValueOf(n).Elem().FieldByName("Base").SetZero()
			return true
		}, nil)
		out = append(out, f)
	}
	slices.Reverse(out)
	return out
}
