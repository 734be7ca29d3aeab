//go:build !playground

package web

// carried is nothing: this program is built without the tag playground.
func carried() (map[string][]byte, error) { return nil, nil }
