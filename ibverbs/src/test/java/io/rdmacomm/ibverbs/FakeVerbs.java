package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairInfo;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The library in fake_verbs.c and fake_rdmacm.c: controls it, reads its log, and creates providers that open it.
@SuppressWarnings("restricted") // it calls C directly
final class FakeVerbs {
    /// A peer to connect to; the recording library does not look for it.
    static final QueuePairInfo PEER = new QueuePairInfo(1, 2, 3, new Gid(4, 5), PathMtu.MTU_512);

    private static FakeVerbs complete;

    private final Path library;
    private final SymbolLookup lookup;
    private final Path deviceFiles;

    private FakeVerbs(Path library) throws IOException {
        this.library = library;
        this.lookup = SymbolLookup.libraryLookup(library, Arena.global());
        this.deviceFiles = Files.createTempDirectory("rdmacomm-fake-devices");
        deviceFiles.toFile().deleteOnExit();
        Path file = Files.createFile(deviceFiles.resolve("uverbs0"));
        file.toFile().deleteOnExit();
    }

    /// The library with all functions, reset.
    static FakeVerbs fresh() {
        if (complete == null) {
            complete = compiled("libfake_verbs.so");
        }
        complete.call("fake_reset", FunctionDescriptor.ofVoid());
        complete.call("fake_cm_reset", FunctionDescriptor.ofVoid());
        return complete;
    }

    /// A library that lacks the functions that older ones lack.
    static FakeVerbs withoutOptional() {
        FakeVerbs fake = compiled("libfake_verbs_old.so", "-DWITHOUT_OPTIONAL");
        fake.call("fake_reset", FunctionDescriptor.ofVoid());
        return fake;
    }

    private static FakeVerbs compiled(String name, String... options) {
        try {
            String source = resource("/fake_verbs.c") + resource("/fake_rdmacm.c");
            String[] all = java.util.Arrays.copyOf(options, options.length + 1);
            all[options.length] = "-shared";
            return new FakeVerbs(CCompiler.compile(name, source, all));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = FakeVerbs.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    IbvProvider provider() {
        return provider(deviceFiles);
    }

    /// The provider on a machine whose kernel has no RDMA driver.
    IbvProvider withoutDrivers() {
        return new IbvProvider(library.toString(), library.toString(), deviceFiles, Path.of("/nowhere"));
    }

    IbvProvider provider(Path files) {
        return new IbvProvider(library.toString(), library.toString(), files, Path.of("/"));
    }

    /// The provider on a machine that has no librdmacm.
    IbvProvider withoutConnections() {
        return new IbvProvider(library.toString(), "libnobody-has-this.so.7", deviceFiles, Path.of("/"));
    }

    Device device() {
        return device(provider(), 0);
    }

    static Device device(IbvProvider provider, int index) {
        return Device.of(provider.devices().get(index));
    }

    Context open() {
        return device().open();
    }

    /// The calls since the last time, one line each.
    List<String> log() {
        MemorySegment text = (MemorySegment) call("fake_log", FunctionDescriptor.of(ADDRESS));
        return text.reinterpret(1 << 16).getString(0).lines().toList();
    }

    void logOff() {
        call("fake_log_off", FunctionDescriptor.ofVoid(JAVA_INT), 1);
    }

    /// Makes the next call of `function` fail.
    void fail(String function, int errno) {
        fail(function, errno, 1);
    }

    /// Makes the next `times` calls of `function` fail.
    void fail(String function, int errno, int times) {
        try (Arena arena = Arena.ofConfined()) {
            call(
                    "fake_fail",
                    FunctionDescriptor.ofVoid(ADDRESS, JAVA_INT, JAVA_INT),
                    arena.allocateFrom(function),
                    errno,
                    times);
        }
    }

    /// Makes the next post reject the request at `index`, or with -1 fail after all requests were accepted.
    void refuse(int index, int result) {
        call("fake_refuse", FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT), index, result);
    }

    /// The status of all sends from now on.
    void status(int status) {
        call("fake_status", FunctionDescriptor.ofVoid(JAVA_INT), status);
    }

    /// Whether sends that are posted from now on stay in the queue and never complete.
    void keep(boolean on) {
        call("fake_keep", FunctionDescriptor.ofVoid(JAVA_INT), on ? 1 : 0);
    }

    /// Whether querying a queue pair fills in its state alone.
    void forget(boolean on) {
        call("fake_forget", FunctionDescriptor.ofVoid(JAVA_INT), on ? 1 : 0);
    }

    /// The number of the next queue pair.
    void nextNumber(int number) {
        call("fake_next_number", FunctionDescriptor.ofVoid(JAVA_INT), number);
    }

    /// Behaves like this kind of adapter from now on.
    void profile(String name) {
        try (Arena arena = Arena.ofConfined()) {
            FunctionDescriptor descriptor = FunctionDescriptor.of(JAVA_INT, ADDRESS);
            if ((int) call("fake_profile", descriptor, arena.allocateFrom(name)) == 0) {
                throw new AssertionError("no profile " + name);
            }
        }
    }

    /// How often polling copied a message to memory that is not there.
    int wildCopies() {
        return (int) call("fake_wild_copies", FunctionDescriptor.of(JAVA_INT));
    }

    /// The most completions that one call of C was to take.
    int mostPolled() {
        return (int) call("fake_most_polled", FunctionDescriptor.of(JAVA_INT));
    }

    /// Whether there is memory at this address.
    boolean isMapped(long address) {
        return (int) call("fake_is_mapped", FunctionDescriptor.of(JAVA_INT, JAVA_LONG), address) != 0;
    }

    /// Whether the page at this address takes up memory.
    boolean isResident(long address) {
        return (int) call("fake_is_resident", FunctionDescriptor.of(JAVA_INT, JAVA_LONG), address) != 0;
    }

    void devices(int count, int errno) {
        call("fake_devices", FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT), count, errno);
    }

    /// The number of ports of each device.
    void ports(int count) {
        call("fake_ports", FunctionDescriptor.ofVoid(JAVA_INT), count);
    }

    /// The size of the `struct verbs_context` of the next device that is opened.
    void extended(int bytes) {
        call("fake_extended", FunctionDescriptor.ofVoid(JAVA_INT), bytes);
    }

    /// Capability flags of the devices, besides the usual ones.
    void deviceFlags(int flags) {
        call("fake_device_flags", FunctionDescriptor.ofVoid(JAVA_INT), flags);
    }

    void kind(int transport, int vendor) {
        call("fake_kind", FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT), transport, vendor);
    }

    /// Raises an asynchronous event about an object, by its name in the log, or about a port.
    void raise(int type, String object, int port) {
        MemorySegment element = MemorySegment.NULL;
        if (!object.isEmpty()) {
            try (Arena arena = Arena.ofConfined()) {
                element = (MemorySegment)
                        call("fake_find", FunctionDescriptor.of(ADDRESS, ADDRESS), arena.allocateFrom(object));
            }
        }
        call("fake_async", FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, JAVA_INT), type, element, port);
    }

    /// Answers the next call of a function of the connection manager with this event; with type -1, not at all.
    void answer(String function, int type, int status, String data) {
        try (Arena arena = Arena.ofConfined()) {
            call(
                    "fake_cm_answer",
                    FunctionDescriptor.ofVoid(ADDRESS, JAVA_INT, JAVA_INT, ADDRESS),
                    arena.allocateFrom(function),
                    type,
                    status,
                    arena.allocateFrom(data));
        }
    }

    /// Reports an event of an identifier, by its name in the log.
    void report(String identifier, int type, int status) {
        try (Arena arena = Arena.ofConfined()) {
            int found = (int) call(
                    "fake_cm_event",
                    FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
                    arena.allocateFrom(identifier),
                    type,
                    status);
            if (found == 0) {
                throw new AssertionError("no identifier " + identifier);
            }
        }
    }

    /// A peer asks a listener for a connection, perhaps through another device.
    ///
    /// @return the name of the new identifier
    String request(String listener, String data, boolean elsewhere) {
        return request(listener, data, elsewhere ? 1 : 0);
    }

    /// A peer asks a listener for a connection through the second device.
    String requestAtSecond(String listener) {
        return request(listener, "", 2);
    }

    private String request(String listener, String data, int where) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = (MemorySegment) call(
                    "fake_cm_request",
                    FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, JAVA_INT),
                    arena.allocateFrom(listener),
                    arena.allocateFrom(data),
                    where);
            return name.reinterpret(16).getString(0);
        }
    }

    /// Whether addresses belong to another device from now on.
    void elsewhere(boolean other) {
        call("fake_cm_elsewhere", FunctionDescriptor.ofVoid(JAVA_INT), other ? 1 : 0);
    }

    /// Whether connecting blocks in C, as on siw.
    void blockConnecting(boolean block) {
        call("fake_cm_block", FunctionDescriptor.ofVoid(JAVA_INT), block ? 1 : 0);
    }

    /// Whether destroying an identifier blocks in C, as in the kernel while siw waits for an answer.
    void blockDestroying(boolean block) {
        call("fake_cm_block_destroy", FunctionDescriptor.ofVoid(JAVA_INT), block ? 1 : 0);
    }

    /// The number of identifiers that are not destroyed, of such event channels, and of events that are not
    /// acknowledged.
    List<Integer> connectionLeftovers() {
        FunctionDescriptor number = FunctionDescriptor.of(JAVA_INT);
        return List.of((int) call("fake_cm_ids", number), (int) call("fake_cm_channels", number), (int)
                call("fake_cm_events", number));
    }

    private Object call(String function, FunctionDescriptor descriptor, Object... arguments) {
        try {
            return Linker.nativeLinker()
                    .downcallHandle(lookup.find(function).orElseThrow(), descriptor)
                    .invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new AssertionError(function, e);
        }
    }
}
