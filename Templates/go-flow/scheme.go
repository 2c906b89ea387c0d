// A login with user and password. The server issues an access token, sent on requests, and a renewal, exchanged for a new pair.
package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// The server's response. The host stores its bytes.
type pair struct {
	Access  string `json:"access"`
	Renewal string `json:"renewal"`
	Seconds int64  `json:"seconds"`
}

type scheme struct{ server string }

func create(settings Settings, host *Host) (Scheme, error) {
	return &scheme{strings.TrimRight(settings.Text("server"), "/")}, nil
}

func (s *scheme) Decode(bytes []byte) (any, error) {
	token := new(pair)
	if err := json.Unmarshal(bytes, token); err != nil || token.Access == "" || strings.ContainsAny(token.Access, "\r\n\x00") {
		return nil, BadToken("it has no access token")
	}
	return token, nil
}

func (s *scheme) Authorize(request *View, token any, edits *Edits) error {
	if request.IsProxy() {
		return Unsupported("this credential is for a server, not for a proxy")
	}
	if token == nil {
		return BadToken("there is no token yet: log in first")
	}
	edits.SetHeader("Authorization", []byte("Bearer "+token.(*pair).Access))
	return nil
}

func (s *scheme) Login(flow *Flow) (*Issued, error) {
	answers, err := flow.Ask(
		Question{Name: "user", Prompt: "User"}, Question{Kind: AskSecret, Name: "password", Prompt: "Password"})
	if err != nil {
		return nil, err
	}
	form := url.Values{"user": {answers.Text("user")}, "password": {answers.Text("password")}}
	response, err := flow.PostForm(s.server+"/login", form.Encode())
	if err != nil {
		return nil, err
	}
	return s.issued(response, flow.Now, Denied("the server refused it"))
}

func (s *scheme) Refresh(flow *Flow) (*Issued, error) {
	response, err := s.postRenewal(flow, "/renew")
	if err != nil {
		return nil, err
	}
	return s.issued(response, flow.Now, BadToken("the server refused it"))
}

func (s *scheme) Logout(flow *Flow) error {
	_, err := s.postRenewal(flow, "/logout")
	return err
}

func (s *scheme) postRenewal(flow *Flow, path string) (*Response, error) {
	token, err := s.Decode(flow.Token)
	if err != nil {
		return nil, err
	}
	return flow.PostForm(s.server+path, url.Values{"renewal": {token.(*pair).Renewal}}.Encode())
}

// The token of a response, or the error `refusal` for a status that rejects it for good.
func (s *scheme) issued(response *Response, now time.Time, refusal error) (*Issued, error) {
	switch response.Status {
	case 401, 403:
		return nil, refusal
	case 200:
		token, err := s.Decode(response.Body)
		if err != nil {
			return nil, Unavailable("the server's response is no token")
		}
		issued := &Issued{Bytes: response.Body}
		if seconds := token.(*pair).Seconds; seconds > 0 && seconds < 1000000000 {
			issued.ExpiresAt = now.Add(time.Duration(seconds) * time.Second)
		}
		return issued, nil
	}
	return nil, Unavailable(fmt.Sprint("the server responded with ", response.Status))
}

var _ = Export(Plugin{Name: "AcmeKeysAuth", Version: "0.1.0", Vendor: "you", Schemes: []Definition{{
	ID: "acme-keys", Title: "A login with renewal", Flags: Interactive, Flows: true,
	Settings: []Setting{{Name: "server", Help: "Where to log in", Kind: URL, Flags: Required}},
	Create:   create,
}}})
