package io.rdmacomm.soft.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.execution.RequestFault;
import io.rdmacomm.soft.iwarp.Acknowledgement;
import io.rdmacomm.verbs.AsyncEventType;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The answer to a peer that may not access the memory that it named.
class RefusalTest {
    @ParameterizedTest
    @EnumSource(
            value = RequestFault.class,
            names = {"INVALID_KEY", "OUT_OF_BOUNDS", "MISSING_RIGHT", "OTHER_DOMAIN"})
    void anAccessFaultIsAProtectionError(RequestFault fault) {
        for (Refusal refusal : new Refusal[] {Refusal.ofWrite(fault), Refusal.of(fault)}) {
            assertThat(refusal.code().isProtection()).isTrue();
            assertThat(refusal.syndrome()).isEqualTo(Acknowledgement.ACCESS_ERROR);
            assertThat(refusal.event()).isEqualTo(AsyncEventType.QUEUE_PAIR_ACCESS_ERROR);
        }
    }

    /// Layer 0 is RDMAP, layer 1 is DDP (RFC 5040 7.1).
    @ParameterizedTest
    @EnumSource(
            value = RequestFault.class,
            names = {"INVALID_KEY", "OUT_OF_BOUNDS", "MISSING_RIGHT", "OTHER_DOMAIN"})
    void readsAreRefusedByRdmapAndWritesByDdpUnlessARightIsMissing(RequestFault fault) {
        assertThat(Refusal.of(fault).code().layer()).isZero();
        assertThat(Refusal.ofWrite(fault).code().layer()).isEqualTo(fault == RequestFault.MISSING_RIGHT ? 0 : 1);
    }
}
