/// Tests of sessions, end points and channels, on the software device.
package io.rdmacomm.tests.comm;
