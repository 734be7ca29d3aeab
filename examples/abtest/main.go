// Command abtest is a service that compares variants of a page: which of them
// makes most visitors buy, and how likely is that? It shows how a Go program has a
// posterior inside: the model is compiled once, bound to the data of each
// request, and sampled with a deadline.
//
//	go run ./examples/abtest
//	curl localhost:8080/best -d '{"variants": [
//	  {"name": "old", "visitors": 1000, "buyers": 100},
//	  {"name": "new", "visitors": 1000, "buyers": 125}]}'
//
// service.go has the service, abtest.stan the model. The model is the program's
// own, so it runs in this process; for models of others there is ppl serve.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	address := flag.String("listen", "127.0.0.1:8080", "address to listen on")
	timeout := flag.Duration("timeout", 2*time.Second, "time of a request")
	flag.Parse()
	if err := run(*address, *timeout); err != nil {
		log.Fatal(err)
	}
}

func run(address string, timeout time.Duration) error {
	s, err := newService(timeout)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("POST /best", s)
	server := &http.Server{Addr: address, Handler: mux, ReadTimeout: 10 * time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ended := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.Background(), timeout+time.Second)
		defer cancel()
		ended <- server.Shutdown(last)
	})
	log.Printf("listening on %s", address)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended
}
