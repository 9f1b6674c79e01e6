"""What healthy runs say, and what another run says otherwise: fingerprints of lines, compared."""
