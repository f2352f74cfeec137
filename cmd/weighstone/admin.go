package main

import (
	"github.com/weighstone/weighstone/internal/admin"
	"github.com/weighstone/weighstone/internal/sys"
)

// adminName is what the operators' listener is called in the hand-over.
const adminName = "admin"

// openAdmin begins to answer operators on the address of --admin, if there is
// one. A successor has the socket from its predecessor, which answers on it
// too until it ends.
func (v *service) openAdmin() error {
	if v.cmd.Admin == "" {
		return nil
	}
	fds, err := v.handoff.Listeners(adminName)
	if err != nil {
		return err
	}
	if len(fds) == 0 {
		fd, err := sys.Listen(v.cmd.Admin, 0, false)
		if err != nil {
			return err
		}
		fds = []int{fd}
	}
	v.handoff.ShareListeners(adminName, fds)
	v.admins = fds
	v.admin, err = admin.New(fds[0], admin.Options{Facts: v.facts, Serving: v.takesWork, Log: v.log})
	if err != nil {
		return err
	}
	v.log.Info("admin", "address", "http://"+sys.LocalAddr(fds[0]).String())
	go func() {
		if err := v.admin.Serve(); err != nil {
			v.log.Error(err.Error())
		}
	}()
	return nil
}

// facts are what the metrics tell, of all processes together.
func (v *service) facts() admin.Facts {
	return admin.Facts{Variant: v.variant.Name, Restarts: v.board.Restarts(), Crashes: v.board.Crashes(), Stats: v.board.Sum()}
}

// takesWork says whether the server has begun and does not yet drain.
func (v *service) takesWork() bool { return !v.draining.Load() }

// closeAdmin ends what openAdmin has begun.
func (v *service) closeAdmin() {
	if v.admin != nil {
		v.complain(v.admin.Close())
	}
	for _, fd := range v.admins {
		sys.Close(fd)
	}
	v.admin, v.admins = nil, nil
}
