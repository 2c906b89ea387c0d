package main

import (
	"testing"
	"time"
)

const token = `{"access": "a1", "renewal": "r1", "seconds": 60}`

func TestIssued(t *testing.T) {
	s, refusal := &scheme{"https://id.example.com"}, Denied("refused")
	issued, err := s.issued(&Response{Status: 200, Body: []byte(token)}, time.Unix(1000, 0), refusal)
	if err != nil || string(issued.Bytes) != token || issued.ExpiresAt.Unix() != 1060 {
		t.Errorf("%v, %v", issued, err)
	}
	for _, status := range []int{401, 403} {
		if _, err := s.issued(&Response{Status: status}, time.Unix(1000, 0), refusal); err != refusal {
			t.Errorf("%d: %v", status, err)
		}
	}
	for _, response := range []*Response{{Status: 500}, {Status: 200, Body: []byte("<html>")}} {
		if _, err := s.issued(response, time.Unix(1000, 0), refusal); err == nil || err == refusal {
			t.Errorf("%d: %v", response.Status, err)
		}
	}
}

func TestDecode(t *testing.T) {
	s := &scheme{}
	decoded, err := s.Decode([]byte(token))
	if err != nil || decoded.(*pair).Access != "a1" || decoded.(*pair).Renewal != "r1" {
		t.Errorf("%v, %v", decoded, err)
	}
	for _, text := range []string{"", "{}", "[]", `{"access": 1}`, `{"access": "a\r\nb"}`, token[1:]} {
		if _, err := s.Decode([]byte(text)); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
