package experiment

import (
	"strings"
	"testing"
)

// A server that was not started here has no CPU use to compare, and can't be
// run against itself.
func TestRemoteSubjects(t *testing.T) {
	l := testLab(t, options(t))
	l.Subjects = []Remote{{"theirs", "http://127.0.0.1:1"}}
	for _, name := range []string{"card", "api-vs-cgi", "floor"} {
		e, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := e.design(l)
		if err == nil {
			err = l.control(d)
		}
		if err != nil {
			t.Fatal(err)
		}
		seen := false
		for _, c := range d.cells() {
			if c.subject == nil || c.subject.Name() != "theirs" {
				continue
			}
			seen = true
			if c.load.open() || len(c.load.half) > 0 {
				t.Errorf("%s: %s is offered a rate to compare CPU times", name, c.name)
			}
		}
		if !seen || len(d.controls.twins) != 2 || d.controls.twins[0].subject.Name() == "theirs A" {
			t.Errorf("%s: theirs is seen %v, the twins are %+v", name, seen, d.controls.twins)
		}
	}
}

func TestControls(t *testing.T) {
	l := testLab(t, options(t))
	d, err := designCard(l)
	if err == nil {
		err = l.control(d)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(d.controls.ceiling) != 0 {
		t.Errorf("the card has floors, but gets further ceilings: %+v", d.controls.ceiling)
	}
	for _, c := range d.cells() {
		want := c.subject != nil && !c.load.open() && c.subject.Name() != "floor"
		if (c.ceiling != nil) != want || want && c.ceiling.load.keepalive != c.load.keepalive {
			t.Errorf("%s has the ceiling %+v", c.name, c.ceiling)
		}
	}
	twins := d.controls.twins
	if twins[0].subject == twins[1].subject || twins[0].subject.Name() != "epoll A" || twins[1].name == twins[0].name {
		t.Errorf("the twins are %s and %s", twins[0].name, twins[1].name)
	}
	if n := len(d.all()) - len(d.units); n != 1 {
		t.Errorf("%d units of controls", n)
	}

	l.FloorDir = t.TempDir()
	if d, err = designAPIVsCGI(l); err == nil {
		err = l.control(d)
	}
	if err != nil || !strings.Contains(strings.Join(d.remarks, " "), "no ceiling was taken") {
		t.Errorf("without the floor: %v, %q", err, d.remarks)
	}
}
