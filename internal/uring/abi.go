package uring

// The numbers of linux/io_uring.h that this package needs.

// Flags and features of io_uring_setup(2).
const (
	setupCQSize       = 1 << 3  // IORING_SETUP_CQSIZE
	setupRDisabled    = 1 << 6  // IORING_SETUP_R_DISABLED
	setupSubmitAll    = 1 << 7  // IORING_SETUP_SUBMIT_ALL
	setupCoopTaskrun  = 1 << 8  // IORING_SETUP_COOP_TASKRUN
	setupSingleIssuer = 1 << 12 // IORING_SETUP_SINGLE_ISSUER
	setupDeferTaskrun = 1 << 13 // IORING_SETUP_DEFER_TASKRUN

	featSingleMmap   = 1 << 0  // IORING_FEAT_SINGLE_MMAP
	featNoDrop       = 1 << 1  // IORING_FEAT_NODROP
	featSubmitStable = 1 << 2  // IORING_FEAT_SUBMIT_STABLE
	featExtArg       = 1 << 8  // IORING_FEAT_EXT_ARG
	featNoIOWait     = 1 << 17 // IORING_FEAT_NO_IOWAIT, from Linux 6.15
)

// Where mmap(2) finds the shared memory.
const (
	offRings = 0          // IORING_OFF_SQ_RING, with both queues
	offSQEs  = 0x10000000 // IORING_OFF_SQES
)

// Flags of io_uring_enter(2).
const (
	enterGetEvents      = 1 << 0 // IORING_ENTER_GETEVENTS
	enterExtArg         = 1 << 3 // IORING_ENTER_EXT_ARG
	enterRegisteredRing = 1 << 4 // IORING_ENTER_REGISTERED_RING
	enterNoIOWait       = 1 << 7 // IORING_ENTER_NO_IOWAIT
)

// Operations of io_uring_register(2).
const (
	registerProbe      = 8  // IORING_REGISTER_PROBE
	registerEnable     = 12 // IORING_REGISTER_ENABLE_RINGS
	registerRingFDs    = 20 // IORING_REGISTER_RING_FDS
	unregisterRingFDs  = 21 // IORING_UNREGISTER_RING_FDS
	registerBufferRing = 22 // IORING_REGISTER_PBUF_RING
)

// Operations of a submission, and their flags.
const (
	opPollAdd     = 6  // IORING_OP_POLL_ADD
	opSendmsg     = 9  // IORING_OP_SENDMSG
	opAccept      = 13 // IORING_OP_ACCEPT
	opAsyncCancel = 14 // IORING_OP_ASYNC_CANCEL
	opSend        = 26 // IORING_OP_SEND
	opRecv        = 27 // IORING_OP_RECV

	sqeBufferSelect = 1 << 5 // IOSQE_BUFFER_SELECT

	acceptMultishot = 1 << 0 // IORING_ACCEPT_MULTISHOT
	recvMultishot   = 1 << 1 // IORING_RECV_MULTISHOT
	pollMulti       = 1 << 0 // IORING_POLL_ADD_MULTI
)

// Flags of a completion.
const (
	cqeBuffer      = 1 << 0 // IORING_CQE_F_BUFFER: the upper half is a buffer's number
	cqeMore        = 1 << 1 // IORING_CQE_F_MORE: the operation goes on
	cqeBufferShift = 16     // IORING_CQE_BUFFER_SHIFT
)

// sqe is struct io_uring_sqe.
type sqe struct {
	opcode   uint8
	flags    uint8
	ioprio   uint16 // flags of accept, send and receive
	fd       int32
	off      uint64
	addr     uint64
	length   uint32 // also the flags of poll
	opFlags  uint32 // msg_flags, accept_flags, poll32_events, cancel_flags
	userData uint64
	bufGroup uint16
	_        uint16
	_        int32
	_        [2]uint64
}

// setupParams is struct io_uring_params, with its two tables of offsets.
type setupParams struct {
	sqEntries, cqEntries uint32
	flags                uint32
	_, _                 uint32 // sq_thread_cpu, sq_thread_idle
	features             uint32
	_                    [4]uint32 // wq_fd, resv
	sq                   struct {
		head, tail, ringMask, ringEntries, flags, dropped, array, _ uint32

		_ uint64
	}
	cq struct {
		head, tail, ringMask, ringEntries, overflow, cqes, flags, _ uint32

		_ uint64
	}
}

// eventsArg is struct io_uring_getevents_arg.
type eventsArg struct {
	sigmask     uint64
	sigmaskSize uint32
	_           uint32
	ts          uint64 // address of the timeout
}

// bufferRegistration is struct io_uring_buf_reg.
type bufferRegistration struct {
	addr    uint64
	entries uint32
	group   uint16
	_       uint16
	_       [3]uint64
}

// buffer is struct io_uring_buf.
type buffer struct {
	addr   uint64
	length uint32
	id     uint16
	_      uint16 // of the first entry: the ring's tail
}
