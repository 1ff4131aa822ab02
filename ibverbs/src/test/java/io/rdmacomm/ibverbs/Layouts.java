package io.rdmacomm.ibverbs;

import io.rdmacomm.ibverbs.ffm.AddressVectorLayout;
import io.rdmacomm.ibverbs.ffm.CompletionLayouts;
import io.rdmacomm.ibverbs.ffm.ConnectionEventLayout;
import io.rdmacomm.ibverbs.ffm.ConnectionIdentifierLayout;
import io.rdmacomm.ibverbs.ffm.ContextLayout;
import io.rdmacomm.ibverbs.ffm.DeviceAttributesLayout;
import io.rdmacomm.ibverbs.ffm.DeviceLayout;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.MemoryLayouts;
import io.rdmacomm.ibverbs.ffm.PortAttributesLayout;
import io.rdmacomm.ibverbs.ffm.QueuePairAttributesLayout;
import io.rdmacomm.ibverbs.ffm.QueuePairLayout;
import io.rdmacomm.ibverbs.ffm.SharedReceiveLayouts;
import io.rdmacomm.ibverbs.ffm.SocketAddressLayout;
import io.rdmacomm.ibverbs.structs.DeviceLimits;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.AtomicCapability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.GidType;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.QueuePairAttribute;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.ConnectionEvent;
import io.rdmacomm.verbs.spi.CompletionLayout;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// Every number that Java and C must agree on: offsets, sizes, flags, and the constants of enumerations. What each must
/// be in C is in `layouts.txt`.
final class Layouts {
    private static final List<Class<?>> LAYOUTS = List.of(
            AddressVectorLayout.class,
            CompletionLayouts.class,
            ConnectionEventLayout.class,
            ConnectionIdentifierLayout.class,
            ContextLayout.class,
            DeviceAttributesLayout.class,
            DeviceLayout.class,
            LibCLayout.class,
            MemoryLayouts.class,
            PortAttributesLayout.class,
            QueuePairAttributesLayout.class,
            QueuePairLayout.class,
            SharedReceiveLayouts.class,
            SocketAddressLayout.class,
            CompletionLayout.class,
            ReceiveRequestLayout.class,
            SendRequestLayout.class);

    /// Enumerations, with the method that returns the number in C.
    private static final Map<Class<? extends Enum<?>>, String> ENUMS = Map.ofEntries(
            Map.entry(AccessFlag.class, "bit"),
            Map.entry(AsyncEventType.class, "code"),
            Map.entry(AtomicCapability.class, "code"),
            Map.entry(CompletionOpcode.class, "code"),
            Map.entry(ConnectionEvent.class, "code"),
            Map.entry(Errno.class, "number"),
            Map.entry(LinkLayer.class, "code"),
            Map.entry(MemoryWindowType.class, "code"),
            Map.entry(PathMtu.class, "code"),
            Map.entry(PortState.class, "code"),
            Map.entry(QueuePairAttribute.class, "bit"),
            Map.entry(QueuePairState.class, "code"),
            Map.entry(QueuePairType.class, "code"),
            Map.entry(SendOpcode.class, "code"),
            Map.entry(GidType.class, "code"),
            Map.entry(TransportType.class, "code"),
            Map.entry(WorkStatus.class, "code"));

    /// The beginning of a C program that contains the expressions.
    static final String INCLUDES = """
                #include <errno.h>
                #include <fcntl.h>
                #include <infiniband/verbs.h>
                #include <netinet/in.h>
                #include <poll.h>
                #include <pthread.h>
                #include <rdma/rdma_cma.h>
                #include <stddef.h>
                #include <stdio.h>
                #include <sys/epoll.h>
                #include <sys/eventfd.h>
                #include <sys/mman.h>
                #include <sys/resource.h>
                """;

    private Layouts() {}

    /// A C file that compiles only if each number is what its expression says. It needs no libc to link with, so a
    /// compiler for another architecture can check it.
    static String assertions() throws ReflectiveOperationException, IOException {
        Map<String, String> expressions = expressions();
        Map<String, Integer> numbers = inJava();
        Set<String> unpaired = new TreeSet<>(expressions.keySet());
        unpaired.addAll(numbers.keySet());
        unpaired.removeIf(name -> expressions.containsKey(name) && numbers.containsKey(name));
        if (!unpaired.isEmpty()) {
            throw new IllegalStateException("only one of Java and layouts.txt has " + unpaired);
        }
        StringBuilder source = new StringBuilder(INCLUDES);
        numbers.forEach((name, number) -> source.append("_Static_assert((long) (%s) == %d, \"%s is %d in Java\");%n"
                .formatted(expressions.get(name), number, name, number)));
        return source.toString();
    }

    /// Prints the assertions for the architecture that this JVM takes itself for: `-Dos.arch=aarch64`.
    public static void main(String[] args) throws ReflectiveOperationException, IOException {
        System.out.print(assertions());
    }

    /// The value that each number must have, as an expression in C, by the name of the number.
    static Map<String, String> expressions() throws IOException {
        Map<String, String> expressions = new TreeMap<>();
        try (InputStream in = Layouts.class.getResourceAsStream("/layouts.txt")) {
            new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(line -> line.split(" +", 2))
                    .forEach(pair -> expressions.put(pair[0], pair[1]));
        }
        return expressions;
    }

    /// The numbers that Java has in this JVM: some depend on the architecture.
    static Map<String, Integer> inJava() throws ReflectiveOperationException {
        Map<String, Integer> numbers = new TreeMap<>();
        for (Class<?> layout : LAYOUTS) {
            for (Field field : layout.getDeclaredFields()) {
                if (Modifier.isPublic(field.getModifiers())) {
                    numbers.put(layout.getSimpleName() + "." + field.getName(), field.getInt(null));
                }
            }
        }
        for (Map.Entry<Class<? extends Enum<?>>, String> entry : ENUMS.entrySet()) {
            for (Enum<?> constant : entry.getKey().getEnumConstants()) {
                int number = (int) entry.getKey().getMethod(entry.getValue()).invoke(constant);
                if (number != -1) {
                    numbers.put(entry.getKey().getSimpleName() + "." + constant.name(), number);
                }
            }
        }
        for (DeviceLimit limit : DeviceLimit.values()) {
            if (DeviceLimits.offset(limit) != -1) {
                numbers.put("DeviceLimit." + limit, DeviceLimits.offset(limit));
            }
        }
        return numbers;
    }
}
