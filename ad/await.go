package ad

import (
	"errors"
	"time"
)

// askEvery is how often who waits for work that takes long asks whether to stop.
const askEvery = 20 * time.Millisecond

// Beside is what f returns, unless stop, which is asked every 20 ms meanwhile, has an error before
// that: then f goes on to its end, in memory that nobody else may use, and its result is lost.
// A panic of f is the caller's. A nil stop never has an error.
func Await[T any](stop func() error, f func() T) (value T, stopped error) {
	if stop == nil {
		return f(), nil
	}
	type result struct {
		value   T
		failure any
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.failure = recover()
			done <- r
		}()
		r.value = f()
	}()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case r := <-done:
			if r.failure != nil {
				panic(r.failure)
			}
			return r.value, nil
		case <-tick.C:
			if err := stop(); err != nil {
				ended := Leave(err)
				go func() {
					<-done
					ended()
				}()
				return value, err
			}
		}
	}
}

// Leave is called when work goes on that stop, an error of Env.Stop, has ended for its caller, and
// the function that it returns when that work is over. An error with a method Leave of this
// signature is called, so that whoever stopped can wait for the end.
func Leave(stop error) (ended func()) {
	var waits interface{ Leave() (ended func()) }
	if errors.As(stop, &waits) {
		return waits.Leave()
	}
	return func() {}
}
