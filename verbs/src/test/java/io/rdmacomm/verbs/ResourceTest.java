package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.spi.Driver;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ResourceTest {
    private final List<String> log = Collections.synchronizedList(new ArrayList<>());

    /// A resource that records what happens to it.
    private final class Node implements Resource {
        private final String name;
        private final Lifetime lifetime;
        private Runnable whenClosed = () -> {};

        Node(@Nullable Node parent, String name) {
            this.name = name;
            Driver driver = new Driver() {
                @Override
                public void closing() {
                    log.add("closing " + name);
                }

                @Override
                public void close() {
                    log.add("close " + name);
                    whenClosed.run();
                }
            };
            this.lifetime = new Lifetime(this, parent == null ? null : parent.lifetime, driver);
        }

        Node child(String childName) {
            Node child = new Node(this, childName);
            lifetime.adopt(child.lifetime);
            return child;
        }

        Node using(Node other) {
            lifetime.dependOn(other.lifetime);
            return this;
        }

        void use() {
            lifetime.checkOpen();
        }

        @Override
        public boolean isOpen() {
            return lifetime.isOpen();
        }

        @Override
        public void close() {
            lifetime.close();
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /// Nothing that is in use leads to a closed object.
    private static void assertForgotten(WeakReference<Node> closed) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (closed.get() != null) {
            assertThat(System.nanoTime()).as("when it is collected").isLessThan(deadline);
            System.gc();
        }
    }

    @Test
    void closesChildrenBeforeItselfNewestFirst() {
        Node root = new Node(null, "root");
        Node domain = root.child("domain");
        domain.child("region 1");
        domain.child("region 2");
        WeakReference<Node> channel = new WeakReference<>(root.child("channel"));

        root.close();

        assertThat(log.stream().filter(line -> line.startsWith("close ")))
                .containsExactly("close channel", "close region 2", "close region 1", "close domain", "close root");
        assertThat(domain.isOpen()).isFalse();
        assertForgotten(channel);
        assertThat(root.isOpen()).isFalse();
    }

    @Test
    void announcesClosingBeforeTheChildrenAreClosed() {
        Node root = new Node(null, "root");
        root.child("child");

        root.close();

        assertThat(log).containsExactly("closing root", "closing child", "close child", "close root");
    }

    @Test
    void closesUsersBeforeTheObjectsTheyUse() {
        Node root = new Node(null, "root");
        Node domain = root.child("domain");
        Node queue = root.child("completion queue");
        domain.child("queue pair").using(queue);

        root.close();

        assertThat(log.stream().filter(line -> line.startsWith("close ")))
                .containsExactly("close queue pair", "close domain", "close completion queue", "close root");
    }

    @Test
    void closesOnlyOnce() {
        Node root = new Node(null, "root");
        root.close();
        root.close();

        assertThat(log).containsExactly("closing root", "close root");
    }

    @Test
    void cannotBeClosedWhileAnotherUsesIt() {
        Node root = new Node(null, "root");
        Node queue = root.child("completion queue");
        Node user = root.child("queue pair 0x11").using(queue);

        VerbException busy = catchThrowableOfType(VerbException.class, queue::close);

        assertThat(busy.errno()).isEqualTo(Errno.EBUSY);
        assertThat(busy).hasMessageContaining("completion queue").hasMessageContaining("queue pair 0x11");
        assertThat(queue.isOpen()).isTrue();
        assertThatCode(queue::use).doesNotThrowAnyException();
        user.close();
        queue.close();
        assertThat(queue.isOpen()).isFalse();
        root.close();
    }

    @Test
    void useAfterCloseNamesTheObject() {
        Node root = new Node(null, "root");
        Node region = root.child("memory region 0x42");
        region.close();

        assertThatIllegalStateException().isThrownBy(region::use).withMessage("memory region 0x42 is closed");
        assertThatIllegalStateException()
                .isThrownBy(() -> region.child("grandchild"))
                .withMessage("memory region 0x42 is closed");
        assertThat(log).contains("close grandchild");
        assertThatIllegalStateException()
                .isThrownBy(() -> root.child("user").using(region))
                .withMessage("memory region 0x42 is closed");
        root.close();
    }

    @Test
    void isForgottenByItsParentWhenClosed() {
        Node root = new Node(null, "root");
        WeakReference<Node> first = new WeakReference<>(root.child("first"));
        WeakReference<Node> second = new WeakReference<>(root.child("second"));

        first.get().close();

        assertForgotten(first);
        assertThat(second.get()).as("a child that is open").isNotNull();
        root.close();
        assertThat(log.stream().filter(line -> line.equals("close first"))).hasSize(1);
    }

    @Test
    void closesEverythingElseWhenOneChildFails() {
        Node root = new Node(null, "root");
        root.child("good");
        root.child("bad").whenClosed = () -> {
            throw new IllegalStateException("the device is gone");
        };
        root.child("also bad").whenClosed = () -> {
            throw new IllegalStateException("so is this");
        };

        assertThatThrownBy(root::close)
                .hasMessage("so is this")
                .satisfies(failure -> assertThat(failure.getSuppressed()).hasSize(1));
        assertThat(log).contains("close good", "close bad", "close also bad", "close root");
        assertThatCode(root::close).doesNotThrowAnyException();
    }

    @Test
    void releasesWhatItUsedEvenWhenClosingFails() {
        Node root = new Node(null, "root");
        Node queue = root.child("completion queue");
        Node user = root.child("queue pair").using(queue);
        user.whenClosed = () -> {
            throw new IllegalStateException("the device is gone");
        };

        assertThatThrownBy(user::close).hasMessage("the device is gone");
        assertThatCode(queue::close).doesNotThrowAnyException();
        root.close();
    }

    /// A native call that does not find its memory, or no memory for the next step.
    @Test
    void anErrorOfAChildClosesAllOthers() {
        Node root = new Node(null, "root");
        Node queue = root.child("completion queue");
        root.child("queue pair").using(queue).whenClosed = () -> {
            throw new OutOfMemoryError("for the test");
        };

        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(root::close);
        assertThat(log.stream().filter(line -> line.startsWith("close ")))
                .containsExactly("close queue pair", "close completion queue", "close root");
        assertThat(queue.lifetime.users()).isZero();
    }

    @Test
    void closeWaitsForTheThreadThatIsClosing() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Node root = new Node(null, "root");
        root.whenClosed = () -> {
            inside.countDown();
            awaitUninterrupted(go);
            log.add("released");
        };
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Future<?> first = threads.submit(root::close);
            assertThat(inside.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(root.isOpen()).isFalse();
            Future<?> second = threads.submit(() -> {
                root.close();
                log.add("second returned");
            });
            go.countDown();
            first.get(10, TimeUnit.SECONDS);
            second.get(10, TimeUnit.SECONDS);
        }
        assertThat(log).containsSubsequence("released", "second returned");
        assertThat(log.stream().filter("close root"::equals)).hasSize(1);
    }

    @Test
    void parentAndChildrenClosedFromManyThreadsCloseOnceEach() throws Exception {
        for (int round = 0; round < 200; round++) {
            log.clear();
            Node root = new Node(null, "root");
            Node queue = root.child("queue");
            Node domain = root.child("domain");
            List<Node> pairs = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                pairs.add(domain.child("pair " + i).using(queue));
            }
            CountDownLatch start = new CountDownLatch(1);
            try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
                List<Future<?>> ends = new ArrayList<>();
                List<Node> closed = List.of(root, domain, pairs.get(3), pairs.get(0));
                for (Node node : closed) {
                    ends.add(threads.submit(() -> {
                        awaitUninterrupted(start);
                        node.close();
                    }));
                }
                start.countDown();
                for (Future<?> end : ends) {
                    end.get(10, TimeUnit.SECONDS);
                }
            }
            assertThat(log.stream().filter(line -> line.startsWith("close ")))
                    .containsExactlyInAnyOrder(
                            "close pair 0",
                            "close pair 1",
                            "close pair 2",
                            "close pair 3",
                            "close domain",
                            "close queue",
                            "close root");
            assertThat(log).endsWith("close root");
        }
    }

    @Test
    void childrenCreatedDuringCloseAreClosedOrRejected() throws Exception {
        for (int round = 0; round < 200; round++) {
            log.clear();
            Node root = new Node(null, "root");
            CountDownLatch start = new CountDownLatch(1);
            List<Node> made = Collections.synchronizedList(new ArrayList<>());
            try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
                Future<?> creator = threads.submit(() -> {
                    awaitUninterrupted(start);
                    for (int i = 0; i < 50; i++) {
                        try {
                            made.add(root.child("child " + i));
                        } catch (IllegalStateException e) {
                            return;
                        }
                    }
                });
                Future<?> closer = threads.submit(() -> {
                    awaitUninterrupted(start);
                    root.close();
                });
                start.countDown();
                creator.get(10, TimeUnit.SECONDS);
                closer.get(10, TimeUnit.SECONDS);
            }
            assertThat(made).noneMatch(Resource::isOpen);
        }
    }

    @Test
    void closeWaitsForAnObjectThatWasBeingCreated() throws Exception {
        Node root = new Node(null, "root");
        Node queue = root.child("queue");
        Node domain = root.child("domain");
        Node pair = new Node(domain, "pair").using(queue);
        CountDownLatch domainClosed = new CountDownLatch(1);
        domain.whenClosed = domainClosed::countDown;
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> closing = threads.submit(root::close);
            domainClosed.await();
            assertThatIllegalStateException().isThrownBy(() -> domain.lifetime.adopt(pair.lifetime));
            closing.get(20, TimeUnit.SECONDS);
        }
        assertThat(log.stream().filter(line -> line.startsWith("close ")))
                .containsExactly("close domain", "close pair", "close queue", "close root");
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
