package io.rdmacomm.cli.run;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.rdmacomm.cli.command.FileName;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Replaces this process with another program (exec(3)). The program keeps the process identifier, the parent, the
/// terminal and the standard streams of this process. So it gets every signal, and its exit status counts.
///
/// Names and values are in the text form of [FileName], which keeps their bytes.
final class Exec {
    /// `SIG_SETMASK` of Linux, and of the BSDs and macOS.
    private static final int SET_MASK = System.getProperty("os.name").startsWith("Linux") ? 2 : 3;
    /// At least the size of `sigset_t`. The empty set is all zeros.
    private static final int SIGNAL_SET_BYTES = 128;

    private static final int F_SETFD = 2;
    private static final int FD_CLOEXEC = 1;
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final List<String> RANDOM = List.of("/dev/random", "/dev/urandom");

    private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private Exec() {}

    @SuppressWarnings("restricted") // the descriptors are those of the functions
    private static MethodHandle link(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor, options);
    }

    /// The value of an environment variable; null if it is not set.
    static @Nullable String variable(String name) {
        MethodHandle get = link("getenv", FunctionDescriptor.of(ADDRESS, ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            return text((MemorySegment) get.invokeExact(bytes(arena, name)));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /// Sets an environment variable for the program.
    static void set(String name, String value) {
        MethodHandle set = link("setenv", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
        try (Arena arena = Arena.ofConfined()) {
            if ((int) set.invokeExact(bytes(arena, name), bytes(arena, value), 1) != 0) {
                throw new IllegalArgumentException("cannot set " + name);
            }
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /// Becomes the program. Searches for it like a shell, and a script needs no `#!` line (execvp(3)).
    ///
    /// @return why that failed
    static String replace(List<String> command) {
        MethodHandle mask = link("pthread_sigmask", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
        MethodHandle execute = link(
                "execvp", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS), Linker.Option.captureCallState("errno"));
        MethodHandle explain = link("strerror", FunctionDescriptor.of(ADDRESS, JAVA_INT));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            MemorySegment words = arena.allocate(ADDRESS, command.size() + 1L);
            for (int i = 0; i < command.size(); i++) {
                words.setAtIndex(ADDRESS, i, bytes(arena, command.get(i)));
            }
            keepOwnFiles();
            // The threads of a JVM block SIGQUIT, and the program would inherit that.
            MemorySegment nothing = arena.allocate(SIGNAL_SET_BYTES);
            var _ = (int) mask.invokeExact(SET_MASK, nothing, MemorySegment.NULL);
            var _ = (int) execute.invokeExact(state, words.getAtIndex(ADDRESS, 0), words);
            return "" + text((MemorySegment) explain.invokeExact((int) ERRNO.get(state, 0L)));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /// Passes on the descriptors that this process was given, but not those that this JVM has opened: those for its
    /// modules, its class path and random numbers are not close-on-exec by themselves.
    private static void keepOwnFiles() {
        MethodHandle control = link(
                "fcntl",
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
                Linker.Option.firstVariadicArg(2));
        List<String> names = new ArrayList<>(RANDOM);
        names.add(System.getProperty("java.home"));
        names.addAll(List.of(System.getProperty("java.class.path").split(File.pathSeparator)));
        List<Path> own = names.stream().map(Path::of).map(Path::toAbsolutePath).toList();
        try (Stream<Path> descriptors = Files.list(DESCRIPTORS)) {
            for (Path descriptor : descriptors.filter(Files::isSymbolicLink).toList()) {
                Path file = Files.readSymbolicLink(descriptor);
                if (own.stream().anyMatch(file::startsWith)) {
                    int number = Integer.parseInt(descriptor.getFileName().toString());
                    var _ = (int) control.invokeExact(number, F_SETFD, FD_CLOEXEC);
                }
            }
        } catch (IOException e) {
            // Without this folder, the program inherits a few descriptors that it does not use.
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static MemorySegment bytes(Arena arena, String text) {
        return arena.allocateFrom(new String(FileName.encode(text), ISO_8859_1), ISO_8859_1);
    }

    @SuppressWarnings("restricted") // it ends with a zero
    private static @Nullable String text(MemorySegment pointer) {
        return pointer.address() == 0
                ? null
                : FileName.decode(pointer.reinterpret(Long.MAX_VALUE)
                        .getString(0, ISO_8859_1)
                        .getBytes(ISO_8859_1));
    }

    private static RuntimeException unexpected(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(failure);
    }
}
