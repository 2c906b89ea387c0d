// Sends a key, its secret and the time as header lines.
package main

import (
	"strconv"
	"time"
)

type scheme struct {
	key    string
	secret []byte
}

func create(settings Settings, host *Host) (Scheme, error) {
	// The host owns the settings' values, which are valid only during the call: copy them.
	s := &scheme{key: settings.Text("key"), secret: append([]byte(nil), settings.Bytes("secret")...)}
	if s.key == "" {
		return nil, BadSettings("key", "must not be empty")
	}
	if len(s.secret) == 0 {
		return nil, BadSettings("secret", "must not be empty")
	}
	return s, nil
}

func (s *scheme) lines(now time.Time) []Pair {
	return []Pair{
		{"X-Key", []byte(s.key)},
		{"X-Secret", s.secret},
		{"X-Time", strconv.AppendInt(nil, now.Unix(), 10)},
	}
}

func (s *scheme) Authorize(request *View, token any, edits *Edits) error {
	if request.IsProxy() {
		return Unsupported("this credential is for a server, not for a proxy")
	}
	for _, line := range s.lines(request.Time()) {
		edits.SetHeader(line.Name, line.Value)
	}
	return nil
}

var _ = Export(Plugin{Name: "AcmeKeysAuth", Version: "0.1.0", Vendor: "you", Schemes: []Definition{{
	ID: "acme-keys", Title: "A key, its secret and the time",
	Settings: []Setting{
		{Name: "key", Help: "Sent in X-Key", Flags: Required},
		{Name: "secret", Help: "Sent in X-Secret", Flags: Required | Secret},
	},
	Create: create,
}}})
