package io.rdmacomm.cli.mesh;

import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.collective.Elements;
import io.rdmacomm.mesh.collective.MeshBuffer;
import java.time.Duration;

/// The memory of both sides of a collective, for all trials of a run.
sealed interface TrialMemory {
    /// The elements that a rank contributes.
    Elements from(long count);

    /// The elements that receive the result.
    Elements into(long count);

    /// Mesh buffers.
    record Buffers(MeshBuffer given, MeshBuffer got) implements TrialMemory {
        static Buffers allocate(Mesh mesh, long bytes, Duration timeout) {
            return new Buffers(mesh.allocate("given", bytes, timeout), mesh.allocate("got", bytes, timeout));
        }

        @Override
        public Elements from(long count) {
            return given.elements(CollectiveTrial.type(), 0, count);
        }

        @Override
        public Elements into(long count) {
            return got.elements(CollectiveTrial.type(), 0, count);
        }
    }

    /// Java arrays.
    record Arrays() implements TrialMemory {
        @Override
        public Elements from(long count) {
            return Elements.of(new double[Math.toIntExact(count)]);
        }

        @Override
        public Elements into(long count) {
            return from(count);
        }
    }
}
