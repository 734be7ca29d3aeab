//go:build libppl

// Command libppl is a shared library with BridgeStan's C interface, for every program that can call
// C: Python's bridgestan, R, Julia, Rust, nutpie. Build it with
//
//	libppl/build DIR
//
// It needs a C compiler and the build tag libppl. Package front/bridge does the work; this package
// has the C names and types.
//
//	main.go     the functions
//	callback.c  printing, and constants
//	forms_r.c   the functions as R's .C calls them
//	bridge.h    declarations for C
//	shim.c      a small library for each model, which forwards all calls to libppl
//
// bs_model_construct takes the model from the data, if their first key is "__ppl", or else from a
// file next to the library, name.stan for name_model.so. A process loads libppl only once, so
// several models need a copy of the shim each.
package main

/*
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct bs_model bs_model;
typedef struct bs_rng bs_rng;
typedef void (*bs_callback)(const char*, size_t);
typedef const char *const_string;
typedef const double *const_doubles;

struct bs_model {
  uintptr_t handle;
  char *name, *info, *unconstrained, *names[4];
};
struct bs_rng { uintptr_t handle; };

void ppl_print(bs_callback callback, const char *text, size_t size);
const char *ppl_own_path(void);
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime/cgo"
	"strings"
	"sync"
	"unsafe"

	"github.com/ppl-lang/ppl/front/bridge"
)

func main() {}

// printing serialises the callbacks, because clients expect that their calls do not overlap. It has
// a callback for each library that clients have loaded, by its path.
var printing = struct {
	sync.Mutex
	callbacks map[string]C.bs_callback
}{callbacks: map[string]C.bs_callback{}}

// printer returns a function that passes printed text to the callback of a library: first the text,
// then the line break, as Stan does.
func printer(library string) func(string) {
	return func(s string) {
		printing.Lock()
		defer printing.Unlock()
		for _, part := range []string{s, "\n"} {
			if part != "" {
				b := []byte(part)
				C.ppl_print(printing.callbacks[library], (*C.char)(unsafe.Pointer(&b[0])), C.size_t(len(b)))
			}
		}
	}
}

func setPrinter(library string, callback C.bs_callback, message **C.char) C.int {
	return report(message, func() error {
		printing.Lock()
		defer printing.Unlock()
		printing.callbacks[library] = callback
		return nil
	})
}

// report calls f and passes its error to the caller in message. It returns the error code. If there
// is no error, message stays unchanged, as R expects. A panic in f becomes an error, since a panic
// must not unwind into C.
func report(message **C.char, f func() error) (code C.int) {
	fail := func(text string) {
		code = -1
		if message != nil {
			*message = C.CString(text)
		}
	}
	defer func() {
		if r := recover(); r != nil {
			fail(fmt.Sprintf("internal error of ppl: %v", r))
		}
	}()
	if err := f(); err != nil {
		fail(err.Error())
	}
	return code
}

// model returns the model that a pointer of the caller refers to.
func model(m *C.bs_model) (*bridge.Model, error) {
	if m == nil {
		return nil, errors.New("the model is null: bs_model_construct has failed")
	}
	return cgo.Handle(m.handle).Value().(*bridge.Model), nil
}

// numbers returns memory of the caller as a slice.
func numbers(p *C.double, n int) ([]float64, error) {
	if n == 0 {
		return nil, nil
	}
	if p == nil {
		return nil, errors.New("a pointer to numbers is null")
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(p)), n), nil
}

// construct makes the model for the library at a path.
func construct(library string, data C.const_string, seed C.uint, message **C.char) (out *C.bs_model) {
	report(message, func() error {
		text := ""
		if data != nil {
			text = C.GoString(data)
		}
		p, text, ok, err := bridge.FromData(text)
		if !ok && err == nil {
			p, err = bridge.NextTo(library)
		}
		if err != nil {
			return err
		}
		m, err := bridge.New(p, text, uint64(seed), printer(library))
		if err != nil {
			return err
		}
		out = (*C.bs_model)(C.calloc(1, C.sizeof_struct_bs_model))
		out.handle = C.uintptr_t(cgo.NewHandle(m))
		out.name, out.info = C.CString(m.Name()), C.CString(m.Info())
		out.unconstrained = C.CString(strings.Join(m.UnconstrainedNames(), ","))
		for i := range out.names {
			out.names[i] = C.CString(strings.Join(m.Names(i&1 != 0, i&2 != 0), ","))
		}
		return nil
	})
	return out
}

//export bs_model_construct
func bs_model_construct(data C.const_string, seed C.uint, message **C.char) *C.bs_model {
	return construct(C.GoString(C.ppl_own_path()), data, seed, message)
}

// ppl_model_construct and ppl_set_print_callback are for the shim, which passes the path of its
// library.
//
//export ppl_model_construct
func ppl_model_construct(library, data C.const_string, seed C.uint, message **C.char) *C.bs_model {
	return construct(C.GoString(library), data, seed, message)
}

//export ppl_set_print_callback
func ppl_set_print_callback(library C.const_string, callback C.bs_callback, message **C.char) C.int {
	return setPrinter(C.GoString(library), callback, message)
}

//export bs_model_destruct
func bs_model_destruct(m *C.bs_model) {
	if m == nil {
		return
	}
	cgo.Handle(m.handle).Delete()
	for _, s := range append([]*C.char{m.name, m.info, m.unconstrained}, m.names[:]...) {
		C.free(unsafe.Pointer(s))
	}
	C.free(unsafe.Pointer(m))
}

//export bs_free_error_msg
func bs_free_error_msg(message *C.char) { C.free(unsafe.Pointer(message)) }

//export bs_name
func bs_name(m *C.bs_model) C.const_string {
	if m == nil {
		return nil
	}
	return C.const_string(m.name)
}

//export bs_model_info
func bs_model_info(m *C.bs_model) C.const_string {
	if m == nil {
		return nil
	}
	return C.const_string(m.info)
}

//export bs_param_names
func bs_param_names(m *C.bs_model, tp, gq C.bool) C.const_string {
	if m == nil {
		return nil
	}
	i := 0
	if tp {
		i |= 1
	}
	if gq {
		i |= 2
	}
	return C.const_string(m.names[i])
}

//export bs_param_unc_names
func bs_param_unc_names(m *C.bs_model) C.const_string {
	if m == nil {
		return nil
	}
	return C.const_string(m.unconstrained)
}

//export bs_param_num
func bs_param_num(m *C.bs_model, tp, gq C.bool) C.int {
	b, err := model(m)
	if err != nil {
		return -1
	}
	return C.int(b.Num(bool(tp), bool(gq)))
}

//export bs_param_unc_num
func bs_param_unc_num(m *C.bs_model) C.int {
	b, err := model(m)
	if err != nil {
		return -1
	}
	return C.int(b.Dim())
}

//export bs_param_constrain
func bs_param_constrain(m *C.bs_model, tp, gq C.bool, x C.const_doubles, theta *C.double, rng *C.bs_rng, message **C.char) C.int {
	return report(message, func() error {
		b, err := model(m)
		if err != nil {
			return err
		}
		point, err := numbers((*C.double)(x), b.Dim())
		if err != nil {
			return err
		}
		dst, err := numbers(theta, b.Num(bool(tp), bool(gq)))
		if err != nil {
			return err
		}
		var r *bridge.RNG
		if gq && rng != nil { // without generated quantities, R passes an arbitrary pointer
			r = cgo.Handle(rng.handle).Value().(*bridge.RNG)
		}
		return b.Constrain(bool(tp), bool(gq), point, dst, r)
	})
}

//export bs_param_unconstrain
func bs_param_unconstrain(m *C.bs_model, theta C.const_doubles, x *C.double, message **C.char) C.int {
	return report(message, func() error {
		b, err := model(m)
		if err != nil {
			return err
		}
		values, err := numbers((*C.double)(theta), b.Num(false, false))
		if err != nil {
			return err
		}
		point, err := numbers(x, b.Dim())
		if err != nil {
			return err
		}
		return b.Unconstrain(values, point)
	})
}

//export bs_param_unconstrain_json
func bs_param_unconstrain_json(m *C.bs_model, json C.const_string, x *C.double, message **C.char) C.int {
	return report(message, func() error {
		b, err := model(m)
		if err != nil {
			return err
		}
		if json == nil {
			return errors.New("the values of the parameters are null")
		}
		point, err := numbers(x, b.Dim())
		if err != nil {
			return err
		}
		return b.UnconstrainJSON(C.GoString(json), point)
	})
}

// evaluate is the common part of all evaluations. f gets the point and the destinations of its
// results; result i has Dim to the power powers[i] numbers.
func evaluate(m *C.bs_model, x C.const_doubles, lp *C.double, message **C.char, results []*C.double, powers []int, f func(b *bridge.Model, x []float64, to [][]float64) (float64, error)) C.int {
	return report(message, func() error {
		b, err := model(m)
		if err != nil {
			return err
		}
		point, err := numbers((*C.double)(x), b.Dim())
		if err != nil {
			return err
		}
		var to [][]float64
		for i, p := range results {
			n := 1
			for range powers[i] {
				n *= b.Dim()
			}
			dst, err := numbers(p, n)
			if err != nil {
				return err
			}
			to = append(to, dst)
		}
		v, err := f(b, point, to)
		if err != nil {
			return err
		}
		if lp == nil {
			return errors.New("the place for the log density is null")
		}
		*lp = C.double(v)
		return nil
	})
}

//export bs_log_density
func bs_log_density(m *C.bs_model, propto, jacobian C.bool, x C.const_doubles, lp *C.double, message **C.char) C.int {
	return evaluate(m, x, lp, message, nil, nil, func(b *bridge.Model, x []float64, _ [][]float64) (float64, error) {
		return b.LogDensity(bool(propto), bool(jacobian), x)
	})
}

//export bs_log_density_gradient
func bs_log_density_gradient(m *C.bs_model, propto, jacobian C.bool, x C.const_doubles, lp, grad *C.double, message **C.char) C.int {
	return evaluate(m, x, lp, message, []*C.double{grad}, []int{1}, func(b *bridge.Model, x []float64, to [][]float64) (float64, error) {
		return b.Gradient(bool(propto), bool(jacobian), x, to[0])
	})
}

//export bs_log_density_hessian
func bs_log_density_hessian(m *C.bs_model, propto, jacobian C.bool, x C.const_doubles, lp, grad, hessian *C.double, message **C.char) C.int {
	return evaluate(m, x, lp, message, []*C.double{grad, hessian}, []int{1, 2}, func(b *bridge.Model, x []float64, to [][]float64) (float64, error) {
		return b.Hessian(bool(propto), bool(jacobian), x, to[0], to[1])
	})
}

//export bs_log_density_hessian_vector_product
func bs_log_density_hessian_vector_product(m *C.bs_model, propto, jacobian C.bool, x, vector C.const_doubles, lp, hvp *C.double, message **C.char) C.int {
	return evaluate(m, x, lp, message, []*C.double{(*C.double)(vector), hvp}, []int{1, 1}, func(b *bridge.Model, x []float64, to [][]float64) (float64, error) {
		return b.HessianVector(bool(propto), bool(jacobian), x, to[0], to[1])
	})
}

//export bs_rng_construct
func bs_rng_construct(seed C.uint, message **C.char) (rng *C.bs_rng) {
	report(message, func() error {
		rng = (*C.bs_rng)(C.calloc(1, C.sizeof_struct_bs_rng))
		rng.handle = C.uintptr_t(cgo.NewHandle(bridge.NewRNG(uint64(seed))))
		return nil
	})
	return rng
}

//export bs_rng_destruct
func bs_rng_destruct(rng *C.bs_rng) {
	if rng != nil {
		cgo.Handle(rng.handle).Delete()
		C.free(unsafe.Pointer(rng))
	}
}

//export bs_set_print_callback
func bs_set_print_callback(callback C.bs_callback, message **C.char) C.int {
	return setPrinter(C.GoString(C.ppl_own_path()), callback, message)
}
