package main

import "testing"

func TestSize(t *testing.T) {
	for text, want := range map[string]size{
		"0": 0, "512": 512, "512B": 512, "16KiB": 16384, "64MiB": 64 << 20, "2GiB": 2 << 30, "10kB": 10000, "3MB": 3e6, "1GB": 1e9, "16 KiB": 16384,
	} {
		var got size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "KiB", "-1", "1.5MiB", "0x10", "16Ki", "16kib", "9223372036854775807KiB", "99999999999999999999"} {
		var got size
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}
