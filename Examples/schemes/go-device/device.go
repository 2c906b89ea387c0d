// The OAuth 2.0 device grant (RFC 8628) with refresh, as a NevodHost plugin in Go: for a machine without a browser. README.md has the
// commands that build it. Part of NevodHost. MIT licence.
package main

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"
)

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

type device struct{ issuer, clientID, clientSecret, scope string }

// The token's bytes are the server's response.
type token struct {
	Access  string  `json:"access_token"`
	Refresh string  `json:"refresh_token,omitempty"`
	Type    string  `json:"token_type"`
	Seconds float64 `json:"expires_in,omitempty"`
}

func (d *device) Decode(bytes []byte) (any, error) {
	var stored token
	if json.Unmarshal(bytes, &stored) != nil || stored.Access == "" {
		return nil, BadToken("it has no access token")
	}
	return &stored, nil
}

func (d *device) Authorize(request *View, decoded any, edits *Edits) error {
	if request.IsProxy() {
		return Unsupported("the token is for a server, and not for a proxy")
	}
	stored, ok := decoded.(*token)
	if !ok {
		return BadToken("there is no token yet: log in first")
	}
	edits.SetHeader("Authorization", []byte("Bearer "+stored.Access))
	return nil
}

func (d *device) Login(flow *Flow) (*Issued, error) {
	endpoints, err := d.endpoints(flow)
	if err != nil {
		return nil, err
	}
	scope := d.scope
	if wanted := flow.Parameters.Text("scope"); wanted != "" {
		scope = wanted
	}
	var grant struct {
		Device   string `json:"device_code"`
		User     string `json:"user_code"`
		URL      string `json:"verification_uri"`
		Complete string `json:"verification_uri_complete"`
		Interval int    `json:"interval"`
	}
	response, err := d.post(flow, endpoints.Device, url.Values{"scope": {scope}})
	if err != nil {
		return nil, err
	}
	if response.Status != 200 || json.Unmarshal(response.Body, &grant) != nil || grant.Device == "" {
		return nil, refusal(response)
	}
	if grant.Complete == "" {
		grant.Complete = grant.URL
	}
	if err := flow.Show("Open the address, and check that it shows the code "+grant.User, grant.Complete); err != nil {
		return nil, err
	}
	// At least the interval that the server asks for (RFC 8628 §3.5), and at most what a person would wait.
	interval := 5
	if grant.Interval > 0 && grant.Interval <= 60 {
		interval = grant.Interval
	}
	for {
		if err := flow.Wait(time.Duration(interval) * time.Second); err != nil {
			return nil, err
		}
		response, err := d.post(flow, endpoints.Token, url.Values{"grant_type": {deviceGrant}, "device_code": {grant.Device}})
		switch {
		case IsTransport(err):
			interval = min(2*interval, 300) // RFC 8628 §3.5: back off
		case err != nil:
			return nil, err
		case response.Status == 200:
			return issued(flow, response, "")
		case code(response) == "slow_down":
			interval += 5
		case code(response) != "authorization_pending":
			return nil, refusal(response)
		}
	}
}

func (d *device) Refresh(flow *Flow) (*Issued, error) {
	var old token
	if json.Unmarshal(flow.Token, &old) != nil || old.Refresh == "" {
		return nil, BadToken("it can't be refreshed")
	}
	endpoints, err := d.endpoints(flow)
	if err != nil {
		return nil, err
	}
	response, err := d.post(flow, endpoints.Token, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {old.Refresh}})
	if err != nil {
		return nil, err
	}
	if response.Status != 200 {
		return nil, refusal(response)
	}
	return issued(flow, response, old.Refresh)
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

type endpoints struct {
	Issuer string `json:"issuer"`
	Token  string `json:"token_endpoint"`
	Device string `json:"device_authorization_endpoint"`
}

// The issuer's metadata (RFC 8414 §3). The host also reads it, and lets a flow send to the endpoints in it.
func (d *device) endpoints(flow *Flow) (*endpoints, error) {
	address, err := url.Parse(d.issuer)
	if err != nil {
		return nil, BadSettings("issuer", "must be an address")
	}
	address.Path = "/.well-known/oauth-authorization-server" + strings.TrimRight(address.Path, "/")
	response, err := flow.Send(Request{Method: "GET", URL: address.String()})
	if err != nil {
		return nil, err
	}
	var found endpoints
	if response.Status != 200 || json.Unmarshal(response.Body, &found) != nil {
		return nil, Unavailable("the issuer has no metadata")
	}
	if found.Issuer != d.issuer || found.Token == "" || found.Device == "" {
		return nil, BadSettings("issuer", "must be the one that its metadata names, with a device authorization endpoint")
	}
	return &found, nil
}

func (d *device) post(flow *Flow, address string, form url.Values) (*Response, error) {
	form.Set("client_id", d.clientID)
	if d.clientSecret != "" {
		form.Set("client_secret", d.clientSecret)
	}
	if form.Get("scope") == "" {
		form.Del("scope")
	}
	return flow.PostForm(address, form.Encode(), Pair{"Accept", []byte("application/json")})
}

// The error code of a response (RFC 6749 §5.2), or "".
func code(response *Response) string {
	var body struct {
		Code string `json:"error"`
	}
	if json.Unmarshal(response.Body, &body) != nil {
		return ""
	}
	return body.Code
}

func refusal(response *Response) error {
	switch code(response) {
	case "access_denied":
		return Denied("the request was declined")
	case "expired_token":
		return Denied("the code expired before it was confirmed")
	case "invalid_grant":
		return BadToken("the server doesn't accept the refresh token any more")
	case "invalid_client", "unauthorized_client":
		return BadSettings("client-id", "is unknown to the server, or the secret is wrong")
	case "invalid_scope":
		return BadSettings("scope", "is unknown to the server")
	}
	return Unavailable("the server's response is not a token")
}

func issued(flow *Flow, response *Response, refresh string) (*Issued, error) {
	var fresh token
	if json.Unmarshal(response.Body, &fresh) != nil || fresh.Access == "" || !strings.EqualFold(fresh.Type, "bearer") {
		return nil, Unavailable("the server's response is not a bearer token")
	}
	if fresh.Refresh == "" {
		fresh.Refresh = refresh // the server keeps the old one valid (RFC 6749 §6)
	}
	result := &Issued{}
	if fresh.Seconds > 0 && fresh.Seconds < 1e9 {
		result.ExpiresAt = flow.Now.Add(time.Duration(fresh.Seconds * float64(time.Second)))
	}
	bytes, err := json.Marshal(fresh)
	result.Bytes = bytes
	return result, err
}

var _ = Export(Plugin{Name: "DeviceGo", Version: "1.0.0", Vendor: "NevodHost", Schemes: []Definition{{
	ID: "device", Title: "OAuth 2.0 device grant", Flags: Interactive, Flows: true,
	Settings: []Setting{
		{Name: "issuer", Help: "The authorization server", Kind: URL, Flags: Required | Issuer},
		{Name: "client-id", Help: "The client's name at the server", Flags: Required},
		{Name: "client-secret", Help: "The client's secret, if it has one", Flags: Secret},
		{Name: "scope", Help: "What to ask for"},
	},
	Parameters: []Setting{{Name: "scope", Help: "What to ask for, in place of the setting"}},
	Create: func(settings Settings, host *Host) (Scheme, error) {
		return &device{
			settings.Text("issuer"), settings.Text("client-id"), settings.Text("client-secret"), settings.Text("scope"),
		}, nil
	},
}}})
