package experiment

import (
	"fmt"
	"strings"
	"testing"
)

// Each loop is compared with the floor and with the real server, and with
// itself beside as many idle connections as the descriptors allow.
func TestDesignOfConnections(t *testing.T) {
	o := options(t)
	o.Quick = true
	l := testLab(t, o)
	l.noFile = 5_000
	d, err := designConnections(l)
	if err != nil {
		t.Fatal(err)
	}
	var compared []string
	for _, c := range d.compare {
		compared = append(compared, c.name)
	}
	all := strings.Join(compared, "\n")
	idle := 5_000 - spareDescriptors - 64
	for _, want := range []string{
		"epoll to the floor, one connection a request", "percore to the floor, one connection a request",
		fmt.Sprintf("epoll, 64 active: %d idle beside them to none", idle), fmt.Sprintf("poll, 10 active: %d idle beside them to none", idle),
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not compared: %q", want, compared)
		}
	}
	if said := strings.Join(d.remarks, "\n"); !strings.Contains(said, fmt.Sprintf("%d idle connections instead of 10000: the descriptor limit is 5000", idle)) {
		t.Errorf("the remarks do not say how many are idle: %q", d.remarks)
	}
	nginx := strings.Contains(all, "epoll to nginx, one connection a request")
	if missing := strings.Contains(strings.Join(d.remarks, "\n"), "nginx was left out"); nginx == missing {
		t.Errorf("nginx is compared: %v, left out: %v", nginx, missing)
	}
	for _, c := range d.cells() {
		if c.load.keepalive == strings.HasSuffix(c.name, "one connection a request") {
			t.Errorf("%s: kept connections: %v", c.name, c.load.keepalive)
		}
	}
}

// Servers whose CPU use nobody knows are refused where that is the question.
func TestRemotesRefused(t *testing.T) {
	o := options(t)
	o.Subjects = []Remote{{Name: "there", URL: "http://127.0.0.1:1"}}
	l := testLab(t, o)
	for name, design := range map[string]func(*lab) (*design, error){
		"epoll-vs-poll": designEpollVsPoll, "connections": designConnections, "fcgi-gateway": designFCGIGateway,
	} {
		if _, err := design(l); err == nil || !strings.Contains(err.Error(), "the CPU use of there can't be measured") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
