package httpd

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// walls adds the checks that all requests must pass.
func (s *Server) walls(next http.Handler) http.Handler {
	// Web pages of other sites can make a browser send requests to this server.
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		Fail(w, &Error{Status: http.StatusForbidden, Kind: "request", Message: "requests from pages of other sites are refused"})
	}))
	next = origin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		if s.local && !s.known(r.Host) {
			Fail(w, &Error{Status: http.StatusForbidden, Kind: "request", Message: "the server answers only to names of this machine, such as localhost"})
			return
		}
		if _, pattern := s.mux.Handler(r); pattern == "" {
			s.nothing(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// known reports whether a request's host names this machine. A web page could reach this server by
// a foreign domain name that resolves to this machine (DNS rebinding).
func (s *Server) known(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	return isLoopback(name)
}

// nothing answers requests that no handler matches, as JSON.
func (s *Server) nothing(w http.ResponseWriter, r *http.Request) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "" {
			w.Header().Set("Allow", method)
			Fail(w, &Error{Status: http.StatusMethodNotAllowed, Kind: "request", Message: r.URL.Path + " accepts only " + method})
			return
		}
	}
	Fail(w, &Error{Status: http.StatusNotFound, Kind: "request", Message: "there is nothing at " + r.URL.Path})
}

// authorised passes on only requests with the token.
func (s *Server) authorised(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(s.options.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		// Hashes have equal length, so the time does not reveal the length of the token.
		got := sha256.Sum256([]byte(strings.TrimSpace(token)))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			Fail(w, &Error{Status: http.StatusUnauthorized, Kind: "request", Message: "the token is missing or wrong: send it in the header, as in Authorization: Bearer TOKEN"})
			return
		}
		next.ServeHTTP(w, r)
	})
}
