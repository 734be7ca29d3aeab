// Command abtest is a service that compares variants of a web page: which variant turns most
// visitors into buyers, and how certain is that? It shows how to use a posterior in a Go program:
// the model is compiled once, bound to the data of each request, and sampled with a deadline.
//
//	go run ./examples/abtest
//	curl localhost:8080/best -d '{"variants": [
//	  {"name": "old", "visitors": 1000, "buyers": 100},
//	  {"name": "new", "visitors": 1000, "buyers": 125}]}'
//
// service.go has the service, abtest.stan the model. The model is part of the program, so it runs
// in this process. For untrusted models, use ppl serve.
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
