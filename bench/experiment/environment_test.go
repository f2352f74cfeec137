package experiment

import (
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	e := Environment("digest")
	for name, v := range map[string]string{
		"kernel": e.Kernel, "cpu": e.CPU, "clock": e.Clock, "go": e.Go, "build": e.Build, "load": e.Load, "container": e.Container,
		"reuse": e.Sysctls["net.ipv4.tcp_tw_reuse"], "descriptors": e.Facts["limit.descriptors"], "memory": e.Facts["memory.total"], "cores": e.Facts["cpu.allowed"],
	} {
		if v == "" {
			t.Errorf("%s is empty", name)
		}
	}
	if e.Fixtures != "digest" || e.Cores < 1 || !strings.Contains(e.Build, "sha256 ") {
		t.Errorf("%+v", e)
	}
}
