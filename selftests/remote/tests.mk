# SPDX-License-Identifier: GPL-2.0-only
# Unit tests and fuzz targets of remote/

# --- remote/ring. In interleave_test, hostile_test and ring_fuzz a model of memory carries out the
# accesses of the ring's code: machine.c in many orders, memory.c with changes between them.
RING_SRC	:= $(wildcard remote/ring/*.c) selftests/remote/unit/remote/ring/carrier.c
RING_MODEL	:= selftests/remote/unit/remote/ring/model
UNIT_TESTS += $(addprefix remote/ring/,ring_test stress_test interleave_test hostile_test)
TSAN_TESTS += remote/ring/stress_test
SRC_remote/ring/ring_test	:= $(RING_SRC)
SRC_remote/ring/stress_test	:= $(RING_SRC)
SRC_remote/ring/interleave_test	:= $(RING_MODEL)/room.c $(RING_MODEL)/machine.c
SRC_remote/ring/hostile_test	:= $(RING_MODEL)/room.c $(RING_MODEL)/memory.c
FUZZ_TESTS += remote/ring/ring_fuzz
FUZZSRC_remote/ring/ring_fuzz	:= $(SRC_remote/ring/hostile_test)
$(addprefix $(O)/,$(foreach d,asan fuzzobj,$(d)/$(RING_MODEL)/%.o) $(addprefix asan/selftests/remote/unit/remote/ring/,interleave_test.o hostile_test.o) 	fuzzobj/selftests/remote/fuzz/remote/ring/ring_fuzz.o): TEST_CPPFLAGS := -I$(RING_MODEL) $(TEST_CPPFLAGS)

# --- remote. selftests/remote/unit/remote/server/made.c includes sources that remote/api.py and fake.py make.
REMOTE_WIRE_SRC	:= $(wildcard remote/wire/*.c)
REMOTE_FAKE_SRC	:= $(filter-out remote/server/library.c,$(wildcard remote/server/*.c)) $(REMOTE_WIRE_SRC) \
		   $(wildcard remote/channel/*.c remote/ring/*.c) $(addprefix selftests/remote/unit/remote/server/,made.c port.c library.c graphs.c)
UNIT_TESTS += remote/wire/wire_test remote/wire/fit_test remote/server/frames_test remote/server/memory_test remote/server/nodes_test remote/server/copies_test remote/server/words_test remote/server/order_test remote/server/images_test remote/server/flood_test remote/server/stdio_capture_test $(addprefix remote/channel/,completion_test channel_test attach_test memory_test shmem_test endpoint_test guard_test rights_test)
TSAN_TESTS += remote/channel/channel_test
SRC_remote/wire/wire_test	:= $(REMOTE_WIRE_SRC) selftests/remote/unit/remote/server/shapes.c
SRC_remote/wire/fit_test	:= remote/wire/image.c cuda/api/fatbin.c cuda/api/lz4.c
FUZZ_TESTS += remote/wire/image_fuzz
FUZZSRC_remote/wire/image_fuzz	:= remote/wire/image.c
REMOTE_CHANNEL_SRC := $(wildcard remote/channel/*.c remote/ring/*.c) $(addprefix remote/wire/,builds.c cursor.c)
SRC_remote/channel/completion_test	:= $(REMOTE_CHANNEL_SRC)
SRC_remote/channel/channel_test	:= $(REMOTE_CHANNEL_SRC)
SRC_remote/channel/memory_test	:= $(REMOTE_CHANNEL_SRC)
SRC_remote/channel/shmem_test := $(REMOTE_CHANNEL_SRC)
SRC_remote/channel/endpoint_test	:= $(REMOTE_CHANNEL_SRC)
LIBS_remote/channel/endpoint_test	:= $(addprefix -Xlinker --wrap=,clock_gettime pthread_cond_timedwait)
SRC_remote/channel/rights_test	:= $(REMOTE_CHANNEL_SRC)
LIBS_remote/channel/rights_test	:= $(addprefix -Xlinker --wrap=,fork setsockopt getsockopt)
SRC_remote/channel/guard_test	:= $(addprefix remote/channel/,guard.c signals.c)
SRC_remote/channel/attach_test	:= selftests/remote/unit/remote/channel/attach_room.c
$(addprefix $(O)/asan/selftests/remote/unit/remote/channel/,attach_test.o attach_room.o): TEST_CPPFLAGS := -I$(RING_MODEL) $(TEST_CPPFLAGS)
UNIT_TESTS += $(addprefix remote/channel/,address_test tls_test) remote/conf/conf_test $(addprefix remote/supervisor/,bucket_test filter_test admin_test listen_test preauth_test tenants_test)
TSAN_TESTS += remote/channel/tls_test
REMOTE_ADDRESS_SRC	:= $(addprefix remote/channel/,address.c sockets.c subuid.c rights.c)
REMOTE_CONF_SRC	:= $(wildcard remote/conf/*.c) $(REMOTE_ADDRESS_SRC)
SRC_remote/channel/address_test	:= $(REMOTE_ADDRESS_SRC)
SRC_remote/channel/tls_test	:= $(REMOTE_CHANNEL_SRC) $(addprefix remote/ctl/,certs.c write.c) remote/conf/kept.c
LIBS_remote/channel/tls_test	:= -lgnutls
SRC_remote/conf/conf_test	:= $(REMOTE_CONF_SRC)
SRC_remote/supervisor/filter_test	:= $(addprefix remote/supervisor/,filter.c confine.c compiled.c) $(REMOTE_CONF_SRC)
REMOTE_SUPERVISOR_SRC	:= $(addprefix remote/supervisor/,bucket.c preauth.c clients.c compiled.c listen.c tenants.c) remote/server/pool.c remote/server/images.c $(wildcard remote/conf/*.c) \
			   $(REMOTE_CHANNEL_SRC) selftests/remote/unit/remote/supervisor/quiet.c
SRC_remote/supervisor/bucket_test	:= remote/supervisor/bucket.c
SRC_remote/supervisor/preauth_test	:= $(REMOTE_SUPERVISOR_SRC)
LIBS_remote/supervisor/preauth_test	:= $(addprefix -Xlinker --wrap=,now_ms setsockopt getsockopt)
SRC_remote/supervisor/listen_test	:= $(REMOTE_SUPERVISOR_SRC)
SRC_remote/supervisor/tenants_test	:= $(REMOTE_SUPERVISOR_SRC)
UNIT_TESTS += $(addprefix remote/supervisor/,arbiter_test log_test meter_test shared_test supervisor_test state_test)
SRC_remote/supervisor/state_test	:= remote/supervisor/state.c remote/conf/conf.c
SRC_remote/supervisor/arbiter_test	:= $(REMOTE_SUPERVISOR_SRC) $(addprefix remote/supervisor/,arbiter.c state.c) remote/turns/turns.c
LIBS_remote/supervisor/arbiter_test	:= -Xlinker --wrap=clock_gettime
SRC_remote/supervisor/log_test	:= $(REMOTE_SUPERVISOR_SRC) remote/supervisor/log.c
LIBS_remote/supervisor/log_test	:= -Xlinker --wrap=now_ms
SRC_remote/supervisor/meter_test	:= remote/supervisor/meter.c selftests/remote/unit/remote/supervisor/quiet.c
LIBS_remote/supervisor/meter_test	:= $(addprefix -Xlinker --wrap=,dlopen dlsym)
SRC_remote/supervisor/shared_test	:= remote/supervisor/shared.c $(REMOTE_CHANNEL_SRC)
LIBS_remote/supervisor/shared_test	:= $(addprefix -Xlinker --wrap=,fork memory_give_back setsockopt getsockopt)
SRC_remote/supervisor/supervisor_test	:= $(REMOTE_SUPERVISOR_SRC) $(addprefix remote/supervisor/,supervisor.c admin.c arbiter.c shared.c sleep.c state.c trace.c) remote/turns/turns.c remote/sleep/sleepers.c
LIBS_remote/supervisor/supervisor_test	:= $(addprefix -Xlinker --wrap=,poll now_ms setsockopt getsockopt)
SRC_remote/supervisor/admin_test	:= $(REMOTE_SUPERVISOR_SRC) $(addprefix remote/supervisor/,admin.c sleep.c trace.c) remote/sleep/sleepers.c remote/ctl/admin_socket.c
UNIT_TESTS += remote/ctl/trace_json_test
SRC_remote/ctl/trace_json_test	:= remote/ctl/trace_json.c remote/conf/conf.c
FUZZ_TESTS += remote/ctl/trace_json_fuzz
FUZZSRC_remote/ctl/trace_json_fuzz	:= $(SRC_remote/ctl/trace_json_test)
UNIT_TESTS += remote/turns/turns_test
SRC_remote/turns/turns_test	:= remote/turns/turns.c
UNIT_TESTS += remote/sleep/sleepers_test
SRC_remote/sleep/sleepers_test	:= remote/sleep/sleepers.c
FUZZ_TESTS += remote/turns/turns_fuzz
FUZZSRC_remote/turns/turns_fuzz	:= remote/turns/turns.c
# --- remote/cluster
UNIT_TESTS += $(addprefix remote/cluster/relay/,broker_test cut_test parser_test message_test forker_test greet_test measure_test note_test proxy_test pull_test ranks_test registry_test) \
	      remote/client/piece_size_test $(addprefix remote/cluster/run/,children_test options_test plan_test slurm_test \
	      wait_test)
SRC_remote/cluster/relay/cut_test	:=
SRC_remote/cluster/relay/parser_test	:= remote/cluster/relay/parser.c
SRC_remote/cluster/relay/message_test	:= remote/wire/cursor.c
# broker.c, greet.c, measure.c, pull.c, bulk.c, proxy.c and link.c are compiled with a stand-in for mpi.h
SRC_remote/cluster/relay/broker_test	:=
SRC_remote/cluster/relay/forker_test	:= $(addprefix remote/cluster/relay/,forker.c registry.c) $(REMOTE_CHANNEL_SRC)
SRC_remote/cluster/relay/greet_test	:= remote/cluster/relay/greet.c $(REMOTE_CHANNEL_SRC)
SRC_remote/cluster/relay/measure_test	:= remote/cluster/relay/measure.c
SRC_remote/cluster/relay/note_test	:= remote/wire/cursor.c
SRC_remote/cluster/relay/proxy_test	:= $(addprefix remote/cluster/relay/,proxy.c link.c)
SRC_remote/cluster/relay/pull_test	:= $(addprefix remote/cluster/relay/,pull.c bulk.c) remote/wire/cursor.c
$(addprefix $(O)/asan/,$(addprefix remote/cluster/relay/,greet.o measure.o pull.o bulk.o proxy.o link.o) \
  $(addprefix selftests/remote/unit/remote/cluster/relay/,broker_test.o greet_test.o measure_test.o proxy_test.o pull_test.o)): \
	TEST_CPPFLAGS += -Iselftests/remote/unit/remote/cluster/relay/mpi
$(addprefix $(O)/asan/,$(addprefix remote/cluster/relay/,forker.o pull.o link.o) $(addprefix selftests/remote/unit/remote/cluster/relay/,broker_test.o pull_test.o proxy_test.o)): TEST_CPPFLAGS += -D_GNU_SOURCE
UNIT_TESTS += remote/cluster/local/carrier_test
SRC_remote/cluster/local/carrier_test	:= $(addprefix remote/cluster/local/,wire.c match.c requests.c)
$(addprefix $(O)/asan/,$(SRC_remote/cluster/local/carrier_test:.c=.o) selftests/remote/unit/remote/cluster/local/carrier_test.o): \
	TEST_CPPFLAGS += -Iremote/cluster/local -D_GNU_SOURCE
SRC_remote/client/piece_size_test	:=
SRC_remote/cluster/run/children_test	:= remote/cluster/run/children.c
SRC_remote/cluster/run/options_test	:= remote/cluster/run/options.c
SRC_remote/cluster/run/slurm_test	:= $(addprefix remote/cluster/run/,slurm.c step.c command.c plan.c)
SRC_remote/cluster/relay/ranks_test	:= remote/cluster/relay/ranks.c
SRC_remote/cluster/relay/registry_test	:= remote/cluster/relay/registry.c remote/channel/rights.c
LIBS_remote/cluster/relay/registry_test	:= $(addprefix -Xlinker --wrap=,setsockopt getsockopt glob)
SRC_remote/cluster/run/wait_test	:= $(addprefix remote/cluster/run/,wait.c program.c)
$(addprefix $(O)/asan/remote/cluster/run/,wait.o program.o): TEST_CPPFLAGS += -D_GNU_SOURCE
SRC_remote/cluster/run/plan_test	:= $(addprefix remote/cluster/run/,plan.c command.c)
UNIT_TESTS += remote/pmem/pmem_test
SRC_remote/pmem/pmem_test	:= $(addprefix remote/pmem/,file.c nd.c probe.c) remote/channel/label.c remote/conf/kept.c
FUZZ_TESTS += remote/channel/address_fuzz remote/conf/conf_fuzz
FUZZSRC_remote/channel/address_fuzz	:= remote/channel/address.c
FUZZSRC_remote/conf/conf_fuzz	:= $(wildcard remote/conf/*.c) remote/channel/address.c
SRC_remote/server/frames_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/launch_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/memory_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/nodes_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/copies_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/words_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/images_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/order_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/flood_test	:= $(REMOTE_FAKE_SRC) selftests/remote/unit/remote/server/flood.c
SRC_remote/server/stdio_capture_test	:= remote/server/stdio_capture.c
UNIT_TESTS += remote/server/sched_client_test remote/server/sleep_test remote/server/grow_test remote/server/launch_test
SRC_remote/server/sched_client_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/sleep_test	:= $(REMOTE_FAKE_SRC)
UNIT_TESTS += remote/server/trace_test
SRC_remote/server/trace_test	:= $(REMOTE_FAKE_SRC)
LIBS_remote/server/sleep_test	:= -Xlinker --wrap=usleep
LIBS_remote/server/sched_client_test	:= -Xlinker --wrap=clock_gettime
SRC_remote/server/grow_test	:= $(REMOTE_FAKE_SRC)
LIBS_remote/server/grow_test	:= -Xlinker --wrap=open
UNIT_TESTS += $(addprefix remote/client/,memory_test managed_test cross_fence_test peer_copy_test box_test copy_test bulk_test device_test context_test bounce_test hostfunc_test init_test)
TSAN_TESTS += remote/client/context_test remote/client/init_test remote/client/bulk_test
SRC_remote/client/peer_copy_test	:= $(addprefix remote/client/,peer_copy.c peer_via_host.c copy.c linear_copy.c memory_kind.c)
SRC_remote/client/box_test	:= $(addprefix remote/client/,box.c copybox.c)
SRC_remote/client/context_test	:= $(addprefix remote/client/,context.c current.c capture.c)
SRC_remote/client/copy_test	:= $(addprefix remote/client/,copy.c linear_copy.c memory_kind.c)
SRC_remote/client/bulk_test	:= remote/client/bulk.c
SRC_remote/client/device_test	:= remote/client/device.c
SRC_remote/client/bounce_test	:= remote/client/bounce.c
LIBS_remote/client/bounce_test	:= -Xlinker --wrap=pthread_mutex_unlock
SRC_remote/client/cross_fence_test	:= $(addprefix remote/client/,cross_fence.c fencewait.c helper.c peer.c)
SRC_remote/client/hostfunc_test	:= remote/client/hostfunc.c
LIBS_remote/client/hostfunc_test	:= -Xlinker --wrap=pthread_mutex_lock -Xlinker --wrap=pthread_mutex_unlock
SRC_remote/client/init_test	:= $(addprefix remote/client/,init.c client.c device.c) $(addprefix cuda/api/,forked.c visible.c) cuda/api/export/tools.c
SRC_remote/client/managed_test := $(addprefix remote/client/,peer.c route.c managed.c arena.c staging.c) remote/channel/signals.c
LIBS_remote/client/managed_test := -Xlinker --wrap=mprotect
SRC_remote/client/memory_test	:= $(addprefix remote/client/,answer.c peer.c route.c object.c ranges.c va_conflict.c arena.c staging.c hostmem.c grow.c pin.c)
$(foreach t,memory managed cross_fence peer_copy box copy device context bounce hostfunc init,$(eval SRC_remote/client/$(t)_test += selftests/remote/unit/remote/client/absent.c))
# all of the client over channels that lie
REMOTE_LIAR_SRC	:= $(filter-out %/find.c,$(wildcard remote/client/*.c)) $(addprefix remote/wire/,builds.c cursor.c dump.c image.c resource.c table.c) selftests/remote/unit/remote/server/shapes.c \
		   remote/channel/signals.c remote/conf/conf.c cuda/api/export/storage.c cuda/api/export/tools.c $(filter-out %/jit.c %/procaddress.c,$(API_SRC)) $(addprefix selftests/remote/unit/remote/client/,made.c liar.c program.c)
UNIT_TESTS += $(addprefix remote/client/,answers_test lies_test forms_test answer_cache_test) cuda/api/text_test cuda/api/pcie_test
SRC_cuda/api/text_test	:=
SRC_cuda/api/pcie_test	:=
SRC_remote/client/answers_test	:= $(REMOTE_LIAR_SRC)
SRC_remote/client/lies_test	:= $(REMOTE_LIAR_SRC)
SRC_remote/client/forms_test	:= $(REMOTE_LIAR_SRC)
SRC_remote/client/answer_cache_test	:= $(REMOTE_LIAR_SRC)
FUZZ_TESTS += remote/server/frames_fuzz remote/client/answers_fuzz
FUZZSRC_remote/client/answers_fuzz := $(REMOTE_LIAR_SRC)
$(foreach t,answers_test lies_test forms_test answer_cache_test answers_fuzz,$(eval LIBS_remote/client/$(t) := -Xlinker --wrap=client_say -Xlinker --wrap=process_vm_readv))
FUZZSRC_remote/server/frames_fuzz := $(REMOTE_FAKE_SRC)
REMOTE_TEST_OBJ	:= $(foreach d,asan tsan fuzzobj,$(patsubst %.c,$(O)/$(d)/%.o,$(REMOTE_FAKE_SRC) $(wildcard remote/client/*.c remote/conf/*.c remote/supervisor/*.c remote/ctl/*.c remote/pmem/*.c) \
		   $(addprefix selftests/remote/unit/remote/server/,shapes.c flood.c) $(addprefix selftests/remote/unit/remote/,client/absent.c supervisor/quiet.c) remote/server/library.c $(REMOTE_LIAR_SRC) \
		   $(wildcard $(foreach r,wire channel server client conf supervisor pmem,selftests/remote/unit/remote/$(r)/*_test.c selftests/remote/fuzz/remote/$(r)/*.c))))
$(sort $(REMOTE_TEST_OBJ)): TEST_CPPFLAGS += -Iselftests/remote/unit/remote/server -Iselftests/remote/unit/remote/client -D_GNU_SOURCE
$(filter %/made.o,$(REMOTE_TEST_OBJ)): $(REMOTE_GEN)/fake.c
$(REMOTE_GEN)/fake.c: selftests/remote/unit/remote/server/fake.py $(REMOTE_GEN)/.made
	$(call Q,GEN)selftests/remote/unit/remote/server/fake.py . '$(REMOTE_GEN)' && touch $@
$(REMOTE_GEN)/fake_shapes.c $(REMOTE_GEN)/fake_calls.c: $(REMOTE_GEN)/fake.c ;
