package ragged

import (
	"reflect"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/source"
)

// text has the functions that a rewritten program calls. A row without elements starts at 1: that
// is a position, even if the row comes last.
const text = `functions {
  array[] int ragged_start(array[] int n) {
    array[size(n)] int start;
    int next = 1;
    for (j in 1:size(n)) {
      start[j] = n[j] == 0 ? 1 : next;
      next += n[j];
    }
    return start;
  }
  array[,] int ragged_starts(array[,] int n) {
    array[dims(n)[1], dims(n)[2]] int start;
    int next = 1;
    for (i in 1:dims(n)[1]) {
      for (j in 1:dims(n)[2]) {
        start[i, j] = n[i, j] == 0 ? 1 : next;
        next += n[i, j];
      }
    }
    return start;
  }
  int ragged_index(int start, int n, int k) {
    if (k < 1 || k > n) {
      reject("index ", k, " is out of range: the size of the row is ", n);
    }
    return start + k - 1;
  }
  array[] int ragged_indices(int start, int n, array[] int k) {
    array[size(k)] int out = k;
    for (i in 1:size(k)) {
      if (k[i] < 1 || k[i] > n) {
        reject("index ", k[i], " is out of range: the size of the row is ", n);
      }
      out[i] = start + k[i] - 1;
    }
    return out;
  }
  int ragged_from(int start, int n, int from, int to) {
    if (from <= to && (from < 1 || to > n)) {
      reject(from, ":", to, " is out of range: the size of the row is ", n);
    }
    return start + from - 1;
  }
}
`

// starts returns the call that computes the first positions of rows from their sizes.
func (r *rewriter) starts(outer int, sizes ast.Expr) ast.Expr {
	if outer > 1 {
		return r.called(ast.Base{}, "ragged_starts", sizes)
	}
	return r.called(ast.Base{}, "ragged_start", sizes)
}

// called returns a call of one of the functions.
func (r *rewriter) called(at ast.Base, name string, args ...ast.Expr) ast.Expr {
	if r.helped[name] == "" {
		r.helped[name] = r.names.New(name)
	}
	return &ast.CallExpr{Base: at, Func: ast.Ident{Base: at, Name: r.helped[name]}, Args: args}
}

// helpers returns the functions that are called. Their nodes have no positions, so that messages
// are about the calls.
func (r *rewriter) helpers() []ast.Stmt {
	if len(r.helped) == 0 {
		return nil
	}
	tree, _ := lang.Parse(source.NewFile("ragged arrays", text))
	var out []ast.Stmt
	for _, s := range tree.Block(ast.Functions).Stmts {
		f := s.(*ast.FunctionDecl)
		if r.helped[f.Name.Name] == "" {
			continue
		}
		f.Name.Name = r.helped[f.Name.Name]
		ast.Inspect(f, func(n ast.Node) bool {
			if n, ok := n.(*ast.Reject); ok {
				n.Range = true
			}
			reflect.ValueOf(n).Elem().FieldByName("Base").SetZero()
			return true
		}, nil)
		out = append(out, f)
	}
	return out
}
